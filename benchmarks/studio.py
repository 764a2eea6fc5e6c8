"""The review of a 100,000-word book in a browser: it opens as fast as a static page, and never halts the reader.

The service is `ape book review`, in a process of its own, on a book with thousands of edits; a page has at most 300
paragraphs. The baseline of opening is the side-by-side page of the same book, a static file with the texts of all
paragraphs and no controls, loaded from the disk. A pause
is the longest task of the page's main thread, in processor time; people notice 100 ms. A decision is timed over HTTP
against the same decision by the store alone, and then while ten people review the book at once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median, quantiles

import httpx2

from ape.edits.diff import edit_rate, find_edits
from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.job_paragraph import PlannedParagraph
from ape.jobs.store import JobStore
from ape.passage.result import Decision, PostEdit, Usage
from ape.review.decisions import ReviewAction, ReviewDecision
from ape.review.export import write_review_export
from ape.review.links import create_link
from ape.review.store import ReviewStore
from benchmarks.claims import Claim, measure_alternately, ratios_by_round
from benchmarks.compare_page import NOTICEABLE_MILLISECONDS, MainThreadTime, browser_command, main_thread_time
from tests.ape.books.sample_book import StoryParagraph, tale
from tests.ape.reports.browser import Browser, Tab, chromium

PARAGRAPHS, CHAPTER = 5_000, 150
ROUNDS = 3
DECISIONS, REVIEWERS = 60, 10
READER = "reader"
STAGES = ("open", "accepted", "undecided")
WORDS = (("lamp", "light"), ("light", "lamp"), ("dog", "hound"))
# Longest time that HTTP may add to a decision.
ADDED_MILLISECONDS = 50.0
_JOB = "book"
_RECIPE = JobRecipe("model", "revision", "chat@0", "fr", "en")
_READY = "document.querySelector('#review')?.dataset.ready"
# Scroll through the page, a screen a frame.
_SCROLL = """new Promise((done) => {
  const step = () => { const before = scrollY; scrollBy(0, innerHeight);
    scrollY === before ? done(1) : requestAnimationFrame(() => requestAnimationFrame(step)); };
  scrollTo(0, 0); step(); })"""
_SEARCH = """(async () => { document.querySelector("[data-do=search]").click();
  await new Promise((done) => setTimeout(done));
  const form = document.querySelector("#dialog form");
  form.elements.find.value = WORD; form.elements.replacement.value = NEW; form.requestSubmit(); })()"""
_REPLACE_BUTTON = (
    "[...document.querySelectorAll('#dialog button')].find((one) => one.textContent.startsWith('Replace'))"
)
_REPLACE = f"{_REPLACE_BUTTON}.click()"


@dataclass(frozen=True, slots=True)
class Review:
    """A running review: its address for browsers, and a link for scripts."""

    store: JobStore
    entry: str
    token: str

    @property
    def address(self) -> str:
        """The base address of the service."""
        return self.entry.partition("/shared/")[0]

    @property
    def page(self) -> str:
        """The address of the review of the first chapter."""
        return f"{self.address}/books/{_JOB}/review"


def missing() -> str | None:
    """Whether a browser is missing, as a sentence; None if it is not."""
    if browser_command() is None:
        return "The studio is not measured: there is no chromium on this machine."
    return None


def measure() -> list[Claim]:
    """Open, scroll, filter and replace in a browser; then decide, alone and with ten people."""
    command = browser_command()
    assert command, "checked by missing()"
    with tempfile.TemporaryDirectory() as name, running_review(Path(name)) as review:
        static = Path(name) / "static.html"
        reviews = ReviewStore(review.store)
        write_review_export(reviews, review.store.job(_JOB), static, "side-by-side")
        words = sum(len(one.row.planned.mt.split()) for one in reviews.paragraphs(_JOB, with_comments=False))
        with chromium(command, Path(name) / "profile") as browser:
            claims = _measure_pages(browser, review, static)
        claims += _measure_decisions(review, reviews)
    setting = f"studio: a book of {words:,} words in {PARAGRAPHS:,} paragraphs, chapters of {CHAPTER}"
    return [Claim(one.text, one.ratios, one.bound, one.direction, one.note, setting) for one in claims]


@contextmanager
def running_review(folder: Path) -> Iterator[Review]:
    """A book under review, and `ape book review` on it."""
    url = f"sqlite:///{folder / 'jobs.sqlite'}"
    with JobStore(url) as store:
        add_book(store)
        _, token = create_link(store.database, _JOB, READER, days=1)
        command = [sys.executable, "-m", "ape.cli.main", "book", "review", _JOB, "--port", "0", "--no-browser"]
        environment = os.environ | {"APE_JOBS": url, "XDG_DATA_HOME": str(folder)}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        ) as process:
            try:
                assert process.stdout
                entry = process.stdout.readline().strip()
                assert "/shared/" in entry, "the service did not start"
                yield Review(store, entry, token)
            finally:
                process.terminate()


def add_book(store: JobStore, paragraphs: int = PARAGRAPHS, chapter: int = CHAPTER) -> None:
    """Store a finished book of invented chapters."""
    now = datetime.now(UTC)
    job = Job(_JOB, "", "a book", "s", "", "m", "", "o", "txt", _RECIPE, JobState.DONE, created=now, updated=now)
    store.add(job)
    chapters = enumerate(tale(paragraphs, chapter=chapter))
    planned = [(_planned(n * chapter + at, n, one), one) for n, each in chapters for at, one in enumerate(each)]
    store.add_results(_JOB, [(row, _result(one), 1.0) for row, one in planned])
    store.plan(_JOB, [row for row, _ in planned])


def _planned(position: int, chapter: int, one: StoryParagraph) -> PlannedParagraph:
    fingerprint = _RECIPE.fingerprint(one.source, one.mt)
    title = f"Chapter {chapter + 1}"
    return PlannedParagraph(
        f"p{position}", position, chapter, title, position // 20, one.source, one.mt, fingerprint=fingerprint
    )


def _result(one: StoryParagraph) -> PostEdit:
    decision = Decision.EDITED if one.mended != one.mt else Decision.UNCHANGED
    edits, rate = find_edits(one.mt, one.mended), edit_rate(one.mt, one.mended)
    return PostEdit(uuid.uuid4().hex, one.mended, decision, (), edits, rate, "model", "chat@0", Usage(30, 10), 1)


def _measure_pages(browser: Browser, review: Review, static: Path) -> list[Claim]:
    tab = Tab(browser)
    tab.open(review.entry)

    def open_review() -> float:
        return _seconds(lambda: _open_whole(tab, review))

    def open_static() -> float:
        return _seconds(lambda: tab.open(static.as_uri()))

    open_review(), open_static()  # warm up
    opened = measure_alternately(open_review, open_static, rounds=ROUNDS)
    chapter = [_seconds(lambda: _open(tab, review.page)) for _ in range(ROUNDS)]
    note = f"{_milliseconds(one for one, _ in opened)} against {_milliseconds(one for _, one in opened)}; "
    claims = [
        Claim(
            "review page of the book (300 paragraphs at a time) ready / static page of the whole book loaded",
            ratios_by_round(opened),
            1.5,
            "at most",
            note=note + f"a chapter {_milliseconds(chapter)}",
        )
    ]
    _open_whole(tab, review)
    works: dict[str, list[Callable[[], object]]] = {
        "while it opens": [lambda: _open_whole(tab, review)] * ROUNDS,
        "while scrolling": [lambda: tab.run(_SCROLL)] * ROUNDS,
        "while filtering": [partial(_filter, tab, stage) for stage in STAGES],
        "while replacing in the whole book": [partial(_replace, tab, *words) for words in WORDS],
    }
    pauses = {what: [_pause(browser, one) for one in each] for what, each in works.items()}
    tab.close()
    return claims + [
        Claim(
            f"longest pause {what} / {NOTICEABLE_MILLISECONDS:.0f} ms",
            tuple(one.pause / NOTICEABLE_MILLISECONDS for one in found),
            1.0,
            "at most",
            note=f"the longest of all {max(one.pause for one in found):.0f} ms; "
            f"{median(one.total for one in found):.0f} ms of work in all",
        )
        for what, found in pauses.items()
    ]


def _open_whole(tab: Tab, review: Review) -> None:
    _open(tab, f"{review.page}?chapter=")


def _open(tab: Tab, address: str) -> None:
    tab.open(address)
    _until(tab, _READY)


def _filter(tab: Tab, stage: str) -> None:
    tab.leave(
        f"const form = document.querySelector('.filters'); form.elements.stage.value = '{stage}'; form.requestSubmit();"
    )
    _until(tab, _READY)


def _replace(tab: Tab, word: str, new: str) -> None:
    """Preview a replacement in the whole book, then make it."""
    tab.run(_SEARCH.replace("WORD", f"'{word}'").replace("NEW", f"'{new}'"))
    _until(tab, f"{_REPLACE_BUTTON}?.disabled === false")
    tab.run(_REPLACE)
    _until(tab, "!document.querySelector('#dialog').open")
    _until(tab, "document.querySelector('#notice').textContent.startsWith('Replaced')")


def _pause(browser: Browser, work: Callable[[], object]) -> MainThreadTime:
    def settled() -> None:
        work()

    return main_thread_time(browser, settled)


def _until(tab: Tab, script: str, *, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not tab.run(f"!!({script})"):
        assert time.monotonic() < deadline, (script, tab.run("document.body.innerText.slice(0, 2000)"))
        tab.run("new Promise((done) => setTimeout(done, 10))")


def _measure_decisions(review: Review, reviews: ReviewStore) -> list[Claim]:
    job = review.store.job(_JOB)
    with_edits = [one.id for one in reviews.paragraphs(_JOB, with_comments=False) if one.edits]
    parts = [with_edits[at :: 2 + REVIEWERS][:DECISIONS] for at in range(2 + REVIEWERS)]
    alone, over_http, *people = parts

    def decide_alone(id: str) -> float:
        version = reviews.paragraph(_JOB, id).version
        decision = ReviewDecision(id, version, ReviewAction.ACCEPT, (0,))
        return _seconds(lambda: reviews.decide(job, [decision], author="Ada"))

    with httpx2.Client(
        base_url=review.address, headers={"Authorization": f"Bearer {review.token}"}, timeout=60
    ) as client:

        def decide(id: str) -> float:
            version = reviews.paragraph(_JOB, id).version
            return _seconds(lambda: _post(client, id, version))

        pairs = zip(alone, over_http, strict=True)
        measured = [(decide(there), decide_alone(here)) for here, there in pairs]
        with ThreadPoolExecutor(REVIEWERS) as threads:
            crowd = [one for part in threads.map(lambda ids: [decide(one) for one in ids], people) for one in part]
    added = tuple((there - here) * 1000 / ADDED_MILLISECONDS for there, here in measured)
    slow = quantiles(crowd, n=20)[-1] * 1000
    decided = sum(one.author == READER for one in reviews.some_paragraphs(_JOB, list(chain.from_iterable(people))))
    return [
        Claim(
            f"time that HTTP adds to a decision / {ADDED_MILLISECONDS:.0f} ms",
            added,
            1.0,
            "at most",
            note=f"{_milliseconds(one for one, _ in measured)}; "
            f"the store alone {_milliseconds(one for _, one in measured)}",
        ),
        Claim(
            f"decisions stored / decisions made by {REVIEWERS} people at once",
            (decided / len(crowd),),
            1.0,
            note=f"{len(crowd)} decisions, median {_milliseconds(crowd)}, 95 of 100 within {slow:.0f} ms",
        ),
    ]


def _post(client: httpx2.Client, id: str, version: str) -> None:
    decision = {"paragraph": id, "version": version, "action": "accept", "edits": [0]}
    answer = client.post(f"/v1/jobs/{_JOB}/review/decisions", json={"decisions": [decision]})
    assert answer.status_code == 200, answer.text


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _milliseconds(seconds: Iterator[float] | Sequence[float]) -> str:
    return f"{median(seconds) * 1000:.0f} ms"
