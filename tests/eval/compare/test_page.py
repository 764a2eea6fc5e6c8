"""Comparison page in a real browser: filters work, and text never becomes HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ape.passage.result import Finding, Severity
from eval.compare import ParagraphOutcome, System, SystemComparison, ready_system
from eval.compare.comparison_folder import write_comparison
from eval.compare.manifest import build_manifest
from eval.compare.page import write_comparison_page
from eval.compare.page_data import edit_pieces, script_json
from eval.compare.saved_comparison import read_saved_comparison
from eval.human.analysis.analysis import analyse_votes
from eval.human.vote import SHUFFLED_SYSTEM, Choice, Vote
from eval.judge import Judgement, PairJudgements, Verdict, pairs_from_corpus
from tests.ape.reports.browser import Browser, Tab
from tests.eval.compare.comparison_factory import BETTER, HUMAN, MT, SOURCES, compared, data

pytestmark = pytest.mark.browser

HOSTILE = "</script><script>document.title = 'taken'</script><img src=x onerror=\"alert('taken')\"> & <b>bold</b>"


@pytest.fixture
def tab(browser: Browser, tmp_path: Path) -> Iterator[Tab]:
    """A page with hostile text everywhere; it must log no errors and send no requests."""
    opened = Tab(browser)
    opened.open(hostile_page(tmp_path / "report.html").as_uri())
    until(opened, f"{TURN} === '1'")
    yield opened
    assert opened.complaints == []
    assert len({address.partition("#")[0] for address in opened.requests}) <= 1
    opened.close()


def hostile_page(path: Path) -> Path:
    over = data(
        mt=(f"{MT[0]} {HOSTILE}", *MT[1:]),
        sources=(f"{SOURCES[0]} {HOSTILE}", *SOURCES[1:]),
        references=(f"{HUMAN[0]} {HOSTILE}", *HUMAN[1:]),
    )
    finding = Finding(HOSTILE, Severity.REJECT, HOSTILE, 1)
    outcomes = tuple(
        ParagraphOutcome(mt, "rejected", (finding,))
        if place == 1
        else ParagraphOutcome(text, "edited" if text != mt else "unchanged")
        for place, (mt, text) in enumerate(zip(over.mt_texts, (f"{BETTER[0]} {HOSTILE}", *BETTER[1:]), strict=True))
    )
    model = System(f"model {HOSTILE}", "model", outcomes, {"given": HOSTILE})
    found = compared(model, ready_system("copy", over.mt_texts, over, given="@c"), over=over)
    write_comparison_page(
        found, path, manifest=build_manifest(found, command=["ape", HOSTILE], files=[]), title=HOSTILE
    )
    return path


def page_of(found: SystemComparison, folder: Path) -> str:
    path = folder / "report.html"
    write_comparison_page(found, path, manifest=build_manifest(found, command=["ape"], files=[]))
    return path.read_text(encoding="utf-8")


def until(tab: Tab, condition: str) -> None:
    """Wait until the condition is true in the page."""
    tab.run(f"new Promise((done) => {{ const look = () => {condition} ? done(1) : setTimeout(look, 5); look(); }})")


def choose(tab: Tab, name: str, value: str) -> None:
    """Set a filter and wait until it has been applied."""
    turn = int(tab.run(TURN))
    tab.run(
        f"""(() => {{ const field = document.querySelector("#filters [name={name}]"); field.value = {value!r};
        for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, {{ bubbles: true }})); }})()"""
    )
    until(tab, f"{TURN} > {turn}")


TURN = "document.querySelector('#paragraphs').dataset.turn"
STATUS = "document.querySelector('#status').textContent"
PLACES = "[...document.querySelectorAll('#paragraphs article header')].map((one) => one.firstChild.textContent)"


def test_hostile_texts_are_shown_as_text(tab: Tab) -> None:
    assert tab.run("document.title") == HOSTILE
    texts = tab.run("[...document.querySelectorAll('#paragraphs .text')].map((one) => one.textContent)")
    assert f"{SOURCES[0]} {HOSTILE}" in texts
    assert f"{HUMAN[0]} {HOSTILE}" in texts
    assert f"{MT[0]} {HOSTILE}" in texts
    assert HOSTILE in tab.run("document.querySelector('.notes').textContent")
    assert tab.run("document.querySelectorAll('main img, main b b, #paragraphs script').length") == 0


def test_paragraphs_are_filtered_by_system_decision_document_and_text(tab: Tab) -> None:
    assert tab.run(STATUS) == "1 to 4 of 4 paragraphs"
    choose(
        tab,
        "decision",
        str(tab.run("JSON.parse(document.querySelector('#index').textContent).decisions").index("rejected")),
    )
    assert tab.run(PLACES) == ["north, paragraph 2"]
    choose(tab, "system", "2")
    assert tab.run(STATUS) == "No paragraph matches."
    choose(tab, "decision", "")
    choose(tab, "document", "1")
    choose(tab, "order", "book")
    assert tab.run(PLACES) == ["south, paragraph 1", "south, paragraph 2"]
    assert tab.run("document.querySelectorAll('#paragraphs .made > div').length") == 4
    choose(tab, "text", "NEIGEAIT")
    assert tab.run(PLACES) == ["south, paragraph 2"]


def test_the_largest_difference_comes_first_and_edits_are_marked(tab: Tab) -> None:
    apart = tab.run("JSON.parse(document.querySelector('#index').textContent).apart")
    ids = ["north, paragraph 1", "north, paragraph 2", "south, paragraph 1", "south, paragraph 2"]
    order = sorted(range(4), key=lambda place: (-apart[place], place))
    assert tab.run(PLACES) == [ids[place] for place in order]
    marks = "[...document.querySelectorAll('#paragraphs ins')].map((one) => one.textContent.trim())"
    assert "was snowing" in tab.run(marks)


@pytest.mark.parametrize(("times", "method"), [(1, "paragraphs taken as independent"), (5, "clustered by document")])
def test_win_intervals_name_their_method(tmp_path: Path, times: int, method: str) -> None:
    over = data(times=times)
    page = page_of(compared(ready_system("better", BETTER * times, over, given="@b"), over=over), tmp_path)
    assert f"the 95% interval (Wilson, {method})" in page
    assert "95%; scores and differences: bootstrap over" in page


def with_votes(*votes: Vote) -> SystemComparison:
    extra = {"metrics": {}, "texts_checked": True}
    return replace(compared(), voted=analyse_votes(votes, samples=100).to_dict() | extra)


def failing(rater: str) -> list[Vote]:
    """A vote, and enough votes for shuffled texts to flag the rater."""
    spam = [Vote(f"s{at}", rater, "worse", SHUFFLED_SYSTEM, "second", kind="spam") for at in range(6)]
    return [Vote("i1", rater, "better", "worse", "first"), *spam]


def test_the_note_on_flagged_raters_says_whether_other_votes_remain(tmp_path: Path) -> None:
    page = page_of(with_votes(*failing("ada")), tmp_path)
    assert "Raters who failed a check: ada. Their votes are included here; without them no votes remain." in page
    page = page_of(with_votes(*failing("ada"), Vote("i1", "bo", "better", "worse", "first")), tmp_path)
    assert "Their votes are included here; results.json has the rates without them." in page


def test_caveats_of_the_set_stand_on_the_page_and_in_a_comparison_read_again(tmp_path: Path) -> None:
    over, caveat = data(), "Outputs of whole documents were split into segments."
    over = replace(over, corpus=replace(over.corpus, caveats=(caveat,)))
    found = compared(ready_system("better", BETTER, over, given="@b"), over=over)
    assert f"<dt>Caveat 1</dt><dd><bdi>{caveat}</bdi></dd>" in page_of(found, tmp_path)
    run = tmp_path / "run"
    run.mkdir()
    write_comparison(run, found, build_manifest(found, command=["ape"], files=[]))
    assert read_saved_comparison(run).data.corpus.caveats == (caveat,)


def test_single_counts_are_in_the_singular(tmp_path: Path) -> None:
    page = page_of(with_votes(Vote("i1", "ada", "better", "worse", "first")), tmp_path)
    assert "1 vote by 1 rater on 1 item<" in page


def test_judge_agreement_has_an_interval(tmp_path: Path) -> None:
    found = compared()
    pairs = pairs_from_corpus(found.results.corpus, [("better", "worse")])
    ours: tuple[Choice, ...] = ("first", "first", "second", "second")
    theirs: tuple[Choice, ...] = ("first", "first", "second", "first")
    verdicts: dict[str, Judgement] = {pair.id: Verdict(one, ()) for pair, one in zip(pairs, ours, strict=True)}
    votes = [Vote(pair.id, "ada", "better", "worse", one) for pair, one in zip(pairs, theirs, strict=True)]
    judged = PairJudgements(pairs, {}, verdicts, "judge_pairs|test").with_agreement(votes).to_dict()
    low, high = judged["agreement"]["kappa_interval"]
    page = page_of(replace(found, judged={"given": "a judge", **judged}), tmp_path)
    assert f"Cohen’s κ 0.50 [{low:.2f}, {high:.2f}]." in page


def test_joined_edit_pieces_give_the_text() -> None:
    pieces = edit_pieces(MT[0], BETTER[0], "en")
    assert "".join(one if isinstance(one, str) else one[0] for one in pieces) == BETTER[0]


def test_embedded_json_cannot_end_its_script_element() -> None:
    assert "<" not in script_json({HOSTILE: [HOSTILE, "<!--"]})
