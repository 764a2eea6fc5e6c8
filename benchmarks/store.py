"""Cost of saving a result: `JobStore.save` against plain inserts with the same durability.

Both sides use SQLite in WAL mode with synchronous=FULL and one transaction per result, in files of the same folder. The
plain side inserts the same texts into one table without checks. Ours checks that the claim is valid and that the
paragraph is pending, marks it, updates the sums of its stretch, and saves the result. Turns are short, because the time
that a disk takes to sync varies from second to second.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from statistics import median

from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.job_paragraph import PlannedParagraph
from ape.jobs.result_rows import result_columns
from ape.jobs.store import JobStore, JobWorker, Stretch
from ape.passage.edit import Edit, EditKind
from ape.passage.result import Decision, Finding, PostEdit, Severity, Usage
from benchmarks.claims import Claim, measure_alternately, ratios_by_round

ROUNDS = 15
# Results per turn.
RESULTS = 100
RECIPE = JobRecipe("model", "revision", "chat@0", "fr", "en")
SENTENCE = "She had not thought of the house by the river for many years, and yet it stood there as before. "
TEXT = 4 * SENTENCE


def measure() -> list[Claim]:
    """Time both sides alternately, in one folder."""
    with tempfile.TemporaryDirectory() as folder, JobStore(f"{folder}/jobs.db") as store:
        ours = _time_saves(store)
        with closing(_plain(Path(folder) / "plain.db")) as connection:
            plain = _time_inserts(connection)
            next(ours), next(plain)  # warm up
            measured = measure_alternately(lambda: next(ours), lambda: next(plain), rounds=ROUNDS)
    saved, inserted = (RESULTS / median(side) for side in zip(*measured, strict=True))
    note = f"{saved:,.0f} a second against {inserted:,.0f}"
    # The ratio of rates is the inverse of the ratio of times.
    share = tuple(1 / ratio for ratio in ratios_by_round(measured))
    return [Claim("results kept a second / plain SQLite inserts", share, 0.4, "at least", note)]


def _time_saves(store: JobStore) -> Iterator[float]:
    """Seconds for RESULTS results, in each round."""
    store.add(_job())
    store.plan("job", _paragraphs((ROUNDS + 1) * RESULTS))
    worker, made = JobWorker.here(), _result()
    for number in range(ROUNDS + 1):
        stretches = list(_claims(store, worker, RESULTS))
        began = time.perf_counter()
        for stretch, paragraph in stretches:
            assert store.save(stretch, paragraph, made, seconds=0.1), number
        yield time.perf_counter() - began


def _claims(store: JobStore, worker: JobWorker, most: int) -> Iterator[tuple[Stretch, str]]:
    claimed = (store.claim("job", worker) for _ in range(most // 20))
    yield from chain.from_iterable(
        ((stretch, row.planned.id) for row in stretch.rows) for stretch in claimed if stretch
    )


def _time_inserts(connection: sqlite3.Connection) -> Iterator[float]:
    values = {**result_columns(_result()), "seconds": 0.1, "created": 0.0, "worker": "w", "fingerprint": "f" * 32}
    names = ", ".join(values)
    connection.execute(f"CREATE TABLE results (job, paragraph, {names}, PRIMARY KEY (job, paragraph))")
    marks = ", ".join("?" * (len(values) + 2))
    insert = f"INSERT INTO results (job, paragraph, {names}) VALUES ({marks})"
    number = 0
    while True:
        began = time.perf_counter()
        for _ in range(RESULTS):
            number += 1
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(insert, ("job", f"chapter-1/p{number}", *values.values()))
            connection.execute("COMMIT")
        yield time.perf_counter() - began


def _plain(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _job() -> Job:
    now = datetime.now(UTC)
    return Job("job", "", "a book", "s", "", "m", "", "o", "epub", RECIPE, JobState.RUNNING, created=now, updated=now)


def _paragraphs(number: int) -> Iterator[PlannedParagraph]:
    for position in range(number):
        chapter, stretch = divmod(position, 100)[0], position // 20
        yield PlannedParagraph(
            f"chapter-{chapter}/p{position}",
            position,
            chapter,
            f"Chapter {chapter}",
            stretch,
            TEXT,
            TEXT,
            fingerprint=f"{position:032x}",
        )


def _result() -> PostEdit:
    edits = tuple(
        Edit(EditKind.WORD_CHOICE, "had not", "hadn't", (start, start + 7), (start, start + 6)) for start in (4, 99)
    )
    findings = (Finding("names", Severity.WARN, "The name Anna is in the source and not in the draft.", 1),)
    return PostEdit(
        "passage", TEXT, Decision.EDITED, findings, edits, 0.04, "model", "chat@0", Usage(412, 96), attempt=1
    )
