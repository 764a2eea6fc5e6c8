"""Comparison page with 10,000 paragraphs of 6 systems: it opens and filters without a noticeable pause, in a browser.

The baseline is the same paragraphs as plain elements, hidden or shown by a search. A pause is the longest task of the
page's main thread; people notice 100 ms. Times are processor time of that thread, from the browser's trace.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.claims import Claim
from eval.compare import ComparisonSet, System, SystemComparison, build_comparison_set, compare_systems, ready_system
from eval.compare.manifest import build_manifest
from eval.compare.page import write_comparison_page
from eval.corpus.corpus import Corpus, Document
from eval.statistics.counts import MetricCounts, mean_fold
from tests.ape.reports.browser import Browser, Tab, chromium

PARAGRAPHS, CHAPTER, SYSTEMS = 10_000, 100, 5
ROUNDS = 3
NOTICEABLE_MILLISECONDS = 100.0
SEARCH_WORD = "zephyr"
_WORDS = """the a old young captain sailor harbour letter wrote read found lost at in on night and but because she he
they it was were had gone never always again under over window door lamp river winter summer voice hand answered asked
""".split()
# Wait until the first paragraphs are displayed.
_OPEN = """new Promise((done) => { const look = () =>
  document.querySelector("#paragraphs")?.dataset.turn === undefined ? setTimeout(look, 5) : done(1); look(); })"""
# Type a word, and wait until the page has searched every paragraph.
_SEEK = """new Promise((done) => { const list = document.querySelector("#paragraphs"); const before = list.dataset.turn;
  const field = document.querySelector("[name=text]"); field.value = WORD;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  const look = () => list.dataset.turn === before ? setTimeout(look, 5) : done(1);
  look(); })"""
_PLAIN = """const list = document.querySelector("#paragraphs"); list.dataset.turn = 0;
document.querySelector("[name=text]").addEventListener("input", (event) => {
  for (const one of list.children) one.hidden = !one.textContent.toLowerCase().includes(event.target.value);
  list.dataset.turn = 1 + Number(list.dataset.turn); });"""


@dataclass(frozen=True, slots=True)
class MainThreadTime:
    """Milliseconds of a page's main thread: the total, and the longest task."""

    total: float
    pause: float


@dataclass(frozen=True, slots=True)
class PageTiming:
    """Time to open a page, and to search a word in all of its paragraphs."""

    opening: MainThreadTime
    seeking: MainThreadTime


@dataclass(frozen=True, slots=True)
class WordRecall:
    """A cheap metric: the share of words of the reference that the output has."""

    name: str = "words"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts:
        """Count words by segment."""
        rows, places = [], []
        for number, document in enumerate(corpus.documents):
            for output, reference in zip(document.outputs[system], document.references[0], strict=True):
                words = (reference or "").split()
                rows.append([100 * len(set(words) & set(output.split())), len(set(words))])
                places.append(number)
        return MetricCounts(np.array(rows, float), np.array(places), mean_fold(), "words|v:0")


def missing() -> str | None:
    """Whether a browser is missing, as a sentence; None if it is not."""
    if browser_command() is None:
        return "The page of a comparison is not measured: there is no chromium on this machine."
    return None


def browser_command() -> str | None:
    """Path of the browser, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def measure() -> list[Claim]:
    """Open and search both pages alternately."""
    command = browser_command()
    assert command, "checked by missing()"
    found = synthetic_systems()
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = Path(folder) / "report.html", Path(folder) / "plain.html"
        write_comparison_page(found, ours, manifest=build_manifest(found, command=["ape", "compare"], files=[]))
        plain.write_text("".join(_plain(found)), encoding="utf-8")
        looks: dict[Path, list[PageTiming]] = {ours: [], plain: []}
        with chromium(command, Path(folder) / "profile") as browser:
            for page in (plain, ours) * ROUNDS:
                looks[page].append(_time_page(browser, page))
        size = ours.stat().st_size / 1e6
    return _claims(looks[plain], looks[ours], size)


def _claims(plain: Sequence[PageTiming], ours: Sequence[PageTiming], size: float) -> list[Claim]:
    setting = f"page of a comparison: {PARAGRAPHS:,} paragraphs of {SYSTEMS + 1} systems, {size:.0f} MB"
    opening, seeking = (median(getattr(one, name).total for one in ours) for name in ("opening", "seeking"))
    both = list(zip(plain, ours, strict=True))
    return [
        Claim(
            "paragraphs as elements / our page, opening",
            tuple(one.opening.total / other.opening.total for one, other in both),
            2.0,
            note=f"{opening:.0f} ms",
            setting=setting,
        ),
        Claim(
            "our page's longest pause while it opens / 100 ms",
            tuple(one.opening.pause / NOTICEABLE_MILLISECONDS for one in ours),
            1.0,
            "at most",
            note=f"as elements: {median(one.opening.pause for one in plain):.0f} ms",
            setting=setting,
        ),
        Claim(
            "our page's longest pause while a word is sought / 100 ms",
            tuple(one.seeking.pause / NOTICEABLE_MILLISECONDS for one in ours),
            1.0,
            "at most",
            note=f"{seeking:.0f} ms in all; as elements: {median(one.seeking.pause for one in plain):.0f} ms at once",
            setting=setting,
        ),
    ]


def _time_page(browser: Browser, page: Path) -> PageTiming:
    tab = Tab(browser)

    def open_it() -> None:
        tab.open(page.as_uri())
        tab.run(_OPEN)
        tab.settle()

    def seek() -> None:
        tab.run(_SEEK.replace("WORD", json.dumps(SEARCH_WORD)))
        tab.settle()

    look = PageTiming(main_thread_time(browser, open_it), main_thread_time(browser, seek))
    tab.close()
    return look


def main_thread_time(browser: Browser, work: Callable[[], None]) -> MainThreadTime:
    """Time that the work takes of the page's main thread."""
    browser.call("Tracing.start", categories="toplevel", transferMode="ReportEvents")
    work()
    browser.events[""] = []
    browser.call("Tracing.end")
    browser.wait_for("", "Tracing.tracingComplete")
    traces = [one["params"]["value"] for one in browser.events[""] if one["method"] == "Tracing.dataCollected"]
    events = [event for trace in traces for event in trace]
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks = [
        event.get("tdur", 0) / 1000
        for event in events
        if event["name"] == "ThreadControllerImpl::RunTask" and (event["pid"], event["tid"]) in threads
    ]
    return MainThreadTime(sum(tasks), max(tasks))


def synthetic_systems() -> SystemComparison:
    """A synthetic set, and systems that each change another share of its paragraphs."""
    chance = random.Random(7)
    references = [_paragraph(chance) for _ in range(PARAGRAPHS)]
    mts = [_change_words(text, 0.3, chance) for text in references]
    parts = range(0, PARAGRAPHS, CHAPTER)
    documents = tuple(
        Document(
            f"chapter {at // CHAPTER + 1}",
            {"mt": tuple(mts[at : at + CHAPTER])},
            (tuple(references[at : at + CHAPTER]),),
            tuple(text[::-1] for text in references[at : at + CHAPTER]),
        )
        for at in parts
    )
    data = build_comparison_set(Corpus(documents, "und", "en", "invented"))
    systems = [_system(number, data, chance) for number in range(1, SYSTEMS + 1)]
    return compare_systems(data, systems, [WordRecall()])


def _system(number: int, data: ComparisonSet, chance: random.Random) -> System:
    texts = [_change_words(mt, 0.1, chance) if chance.random() < number / 10 else mt for mt in data.mt_texts]
    return ready_system(f"system {number}", texts, data, given=":made")


def _paragraph(chance: random.Random) -> str:
    rare = [SEARCH_WORD] if chance.random() < 0.002 else []
    return " ".join([*chance.choices(_WORDS, k=chance.randint(30, 90)), *rare]).capitalize() + "."


def _change_words(text: str, rate: float, chance: random.Random) -> str:
    words = (chance.choice(_WORDS) if chance.random() < rate else word for word in text.split())
    return " ".join(words)


def _plain(found: SystemComparison) -> Iterator[str]:
    yield '<!doctype html><meta charset="utf-8"><input name="text"><div id="paragraphs">'
    at = 0
    for document in found.data.corpus.documents:
        for place in range(len(document)):
            texts = (document.sources[place], *document.references_of(place))
            texts += tuple(system.outcomes[at].text for system in found.systems)
            yield f"<article>{''.join(f'<p>{escape(text)}</p>' for text in texts)}</article>"
            at += 1
    yield f"</div><script>{_PLAIN}</script>"
