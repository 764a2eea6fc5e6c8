"""Kill a running book job repeatedly, and check that nothing is lost, repeated or different.

    python -m tests.ape.jobs.kill_study --folder out/kills --paragraphs 300 --kills 20
    python -m tests.ape.jobs.kill_study --folder out/kills --paragraphs 300 --three

Each run is a process of its own: the command line as it is, on the embedded engine and its real model, but for one
thing: every question that goes to the model is written down first.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ape.jobs.job_files import JobFiles, job_id
from ape.jobs.job_paragraph import ParagraphState
from ape.jobs.store import JobStore
from tests.ape.books.book_factory import make_epub
from tests.ape.books.sample_book import tale
from tests.ape.jobs.postgres import running_postgres


@dataclass(frozen=True, slots=True)
class Pair:
    """A book and its machine translation."""

    source: Path
    mt: Path

    def command(self, output: Path, *more: str) -> list[str]:
        """The command as a user types it."""
        languages = ["--source-language", "fr", "--target-language", "en"]
        return ["book", "edit", str(self.source), str(self.mt), "-o", str(output), *languages, *more]


def make_pair(folder: Path, paragraphs: int, *, sentences: tuple[int, int] = (1, 2)) -> Pair:
    """Make an EPUB, partly with italics, and its MT."""
    chapters = list(tale(paragraphs, sentences=sentences))
    pair = Pair(folder / "livre.epub", folder / "book.epub")
    make_epub(pair.source, paragraphs=[[paragraph.source for paragraph in one] for one in chapters], language="fr")
    make_epub(pair.mt, paragraphs=[[paragraph.mt for paragraph in one] for one in chapters], language="en")
    return pair


@dataclass
class Run:
    """Successive processes on one job, with a log of their model requests."""

    store: str
    log: Path
    arguments: list[str]
    environment: dict[str, str] = field(default_factory=dict)

    def start(self) -> subprocess.Popen[bytes]:
        """Start or resume the job."""
        environment = os.environ | {"APE_JOBS": self.store, "APE_ASKED": str(self.log)} | self.environment
        command = [sys.executable, "-m", "tests.ape.jobs.killed_process", *self.arguments]
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )

    def requested(self) -> list[str]:
        """The MTs sent to the model, in order, without lines truncated by a kill."""
        if not self.log.exists():
            return []
        lines = self.log.read_text(encoding="utf-8").split("\n")[:-1]
        return [json.loads(line) for line in lines if line.endswith('"')]


def finished(store: str, job: str) -> dict[str, str]:
    """Results by MT."""
    with JobStore(store) as opened:
        return {row.planned.mt: row.text for row in opened.rows(job, state=ParagraphState.DONE)}


def disturb(
    run: Run, job: str, *, kills: int, chance: random.Random, longest: float, from_first_request: bool = False
) -> int:
    """Kill the process at random moments until the job is finished; return how often it was working.

    The moments are counted from the start of each process, or from its first request: how long a start takes differs
    between machines. Raises where something finished was asked for again, lost or changed.
    """
    killed = 0
    done: dict[str, str] = {}
    while killed < kills:
        seen = len(run.requested())
        process = run.start()
        while from_first_request and process.poll() is None and len(run.requested()) == seen:
            time.sleep(0.05)
        try:
            process.communicate(timeout=chance.uniform(0.0 if from_first_request else 0.3, longest))
            break  # it came to its end before it was killed
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            killed += 1
        again = [one for one in run.requested()[seen:] if one in done]
        assert not again, f"asked for again though finished: {again[:3]}"
        now = finished(run.store, job) if Path(run.store).exists() else {}
        assert all(now.get(mt) == text for mt, text in done.items()), "a finished paragraph was lost or changed"
        done = now
        print(f"kill {killed}: {len(done)} finished", file=sys.stderr, flush=True)
    return killed


def run_until_done(run: Run, *, expect: Sequence[int] = (0,)) -> str:
    """Let the job finish; return its output."""
    process = run.start()
    out, err = process.communicate()
    assert process.returncode in expect, err.decode()
    return out.decode()


def kill_one_of_three(run: Run, job: str, *, more: Sequence[str] = (), after: int) -> str:
    """Run the command and two helpers, kill one helper part-way, and return the output."""
    first = run.start()
    wait_while_running(lambda: len(run.requested()) > 0, first)
    helpers = [Run(run.store, run.log, ["book", "work", job, *more], run.environment).start() for _ in range(2)]
    wait_while_running(lambda: len(finished(run.store, job)) >= after, first)
    os.killpg(helpers[0].pid, signal.SIGKILL)
    out, err = first.communicate()
    for one in helpers:
        one.communicate()
    assert first.returncode == 0, err.decode()
    assert helpers[0].returncode == -signal.SIGKILL, "the helper was done before it could be killed"
    return out.decode()


def wait_while_running(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait for the condition; fail if the process ends before."""
    while not condition():
        assert process.poll() is None, (process.communicate()[1] or b"").decode()
        time.sleep(0.05)


def main() -> None:
    """Run the study at any size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paragraphs", type=int, default=300)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--flags", default="", help="more flags for `ape book edit`, as in a shell")
    parser.add_argument("--three", action="store_true", help="three workers on PostgreSQL, one of them killed")
    wanted = parser.parse_args()
    wanted.folder.mkdir(parents=True, exist_ok=True)
    more = shlex.split(wanted.flags)
    pair = make_pair(wanted.folder, wanted.paragraphs)
    whole = wanted.folder / "whole.epub"
    run = Run(str(wanted.folder / "whole.sqlite"), wanted.folder / "whole.log", pair.command(whole, *more))
    began = time.monotonic()
    print(run_until_done(run), flush=True)
    seconds = time.monotonic() - began
    print(f"undisturbed: {seconds:.0f} s, {len(run.requested())} questions", flush=True)
    output = wanted.folder / ("three.epub" if wanted.three else "broken.epub")
    job = job_id(JobFiles(pair.source, pair.mt), output)
    log = output.with_suffix(".log")
    with ExitStack() as stack:
        store = str(output.with_suffix(".sqlite"))
        if wanted.three:
            store = stack.enter_context(running_postgres()).fresh("books")
        run = Run(store, log, pair.command(output, *more))
        if wanted.three:
            print(kill_one_of_three(run, job, after=wanted.paragraphs // 3))
            killed = 1
        else:
            chance = random.Random(wanted.seed)
            killed = disturb(run, job, kills=wanted.kills, chance=chance, longest=2 * seconds / wanted.kills)
            print(run_until_done(run))
        results = finished(store, job)
    same = output.read_bytes() == whole.read_bytes()
    print(
        f"killed {killed} times; {len(results)} results, {len(run.requested())} questions; "
        f"output byte-identical to the undisturbed one: {same}"
    )
    sys.exit(0 if same and len(results) == wanted.paragraphs else 1)


if __name__ == "__main__":
    main()
