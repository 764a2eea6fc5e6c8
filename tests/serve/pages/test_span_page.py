"""Error spans marked in a real browser, by keyboard and by mouse, and what becomes of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ape.cli.main import app
from eval.human.span import ErrorSpan, join_paragraphs
from eval.human.trial import Trial
from eval.human.trial_file import write_trial
from tests.ape.reports.browser import Tab
from tests.serve.pages.conftest import PagesServer
from tests.serve.pages.synthetic_trial import (
    COUNT,
    PLACE,
    SAID,
    invented_trial,
    is_wide,
    until,
    until_at,
    until_overview,
)

pytestmark = pytest.mark.browser
SKIP = "document.querySelector('#skip').click()"


def until_tutorial(tab: Tab, place: int) -> None:
    until(tab, f"document.querySelector('#vote').checkVisibility() && {PLACE}.startsWith('Tutorial {place} of ')")


def score_by_keys(tab: Tab, first: str, second: str) -> None:
    tab.press("s", *first, "Escape", "d", *second, "Escape")


def test_the_tutorial_asks_for_its_errors_and_then_the_passages_begin(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(1, spans="esa")
    link = pages.invite(trial, "Ada")
    tab.open(link)
    until_tutorial(tab, 1)
    tab.press("Enter")
    assert "Mark “He” in A" in tab.run(SAID)
    tab.press("a", " ", "Escape", "Enter")
    assert "Make the mark of “He” major" in tab.run(SAID)
    tab.press("a", " ", "Escape")
    score_by_keys(tab, "80", "60")
    tab.press("Enter")
    assert "B is better" in tab.run(SAID)
    score_by_keys(tab, "", "100")
    tab.run("document.querySelector('#second-score').value = '100'")
    tab.run("document.querySelector('#second-score').dispatchEvent(new Event('input'))")
    tab.press("Enter")
    until_tutorial(tab, 2)
    tab.run(SKIP)
    until_at(tab, 1)
    assert pages.trials.votes(trial.id) == []
    tab.open(link)
    until_at(tab, 1)  # the tutorial is not shown again


def test_spans_marked_by_keyboard_are_stored_exported_imported_and_analysed(
    pages: PagesServer, tab: Tab, tmp_path: Path
) -> None:
    trial = invented_trial(2, spans="mqm", raters=("Ben",))
    link = pages.invite(trial, "Ben")
    tab.open(link)
    until_tutorial(tab, 1)
    tab.run(SKIP)
    until_at(tab, 1)
    # The second and third word of A, major; something missing in B, with a category for the first.
    tab.press("a", "ArrowRight")
    tab.press("ArrowRight", shift=True)
    tab.press(" ", " ", "k")
    tab.run("""(() => { const select = document.activeElement; select.value = 'style/overly literal';
        select.dispatchEvent(new Event('change')); })()""")
    tab.press("Escape", "b", "v", "Escape")
    tab.press("Enter")
    assert "Give A and B a score" in tab.run(SAID)
    tab.press("Escape")
    score_by_keys(tab, "35", "90")
    tab.press("Enter")
    until_at(tab, 2)
    (vote,) = pages.trials.votes(trial.id)
    item = next(one for one in trial.items if one.id == vote.item)
    texts = dict(zip(item.systems, map(join_paragraphs, item.texts), strict=True))
    (span,) = vote.spans["first"]
    words = texts[vote.first].split()
    assert texts[vote.first][span.start : span.end] == " ".join(words[1:3])
    assert (span.severity, span.category) == ("major", "style/overly literal")
    last = len(texts[vote.second])
    assert vote.spans["second"] == (ErrorSpan(last, last, "minor"),)
    assert (vote.scores, vote.choice) == ({"first": 35, "second": 90}, "second")
    tab.open(link)
    until_at(tab, 2)
    tab.press("ArrowLeft")
    until_at(tab, 1)
    assert tab.run("document.querySelectorAll('#first-marked li').length") == 1
    assert tab.run("document.querySelector('#second-score').value") == "90"
    _round_trips(pages, trial, tmp_path)


def _round_trips(pages: PagesServer, trial: Trial, folder: Path) -> None:
    """The votes of the store, exported to each format, imported into another store, and analysed."""
    write_trial(trial, folder / "trial.json")
    stored = pages.trials.votes(trial.id)
    for form, name in (("pearmut", "p.json"), ("label-studio", "l.json"), ("jsonl", "v.jsonl"), ("csv", "v.csv")):
        file, store = folder / name, folder / f"{form}.sqlite"
        commands: tuple[list[str], ...] = (
            ["export", str(folder / "trial.json"), "--to", form, "-o", str(file), "--store", pages.settings.jobs_url],
            ["import", str(folder / "trial.json"), str(file), "--store", str(store)],
            ["analyse", str(folder / "trial.json"), "--store", str(store), "--samples", "100", "--json"],
        )
        for command in commands:
            result = CliRunner().invoke(app, ["ab", *command])
            assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)["spans"]
        assert {one["system"]: one["texts"] for one in found["systems"]} == {"free": 1, "literal": 1}
        from eval.human.trial_store import TrialStore

        with TrialStore(str(store)) as other:
            assert [replace(vote, at="") for vote in other.votes(trial.id)] == [
                replace(vote, at="") for vote in stored
            ], form


def test_spans_are_marked_with_the_mouse(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(1, spans="esa")
    tab.open(pages.invite(trial, "Cora"))
    until_tutorial(tab, 1)
    tab.run(SKIP)
    until_at(tab, 1)
    _drag(tab, 1, 3)
    assert "minor error in A" in tab.run(SAID)
    assert tab.run("document.querySelectorAll('#first .word.minor').length") == 3
    tab.run("document.querySelector('#first-marked button').click()")
    assert tab.run("document.querySelectorAll('#first .word.major').length") == 3
    tab.run("[...document.querySelectorAll('#first-marked button')].at(-1).click()")
    assert tab.run("document.querySelectorAll('#first-marked li').length") == 0


def _drag(tab: Tab, first: int, last: int) -> None:
    """Press the mouse on a word of A, and release it on a later one."""
    for kind, word in (("mousePressed", first), ("mouseMoved", last), ("mouseReleased", last)):
        x, y = tab.run(
            f"""(() => {{ const found = document.querySelectorAll('#first .word')[{word}];
            const box = found.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"""
        )
        tab.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
    tab.settle()


def test_a_rater_sees_only_the_allocated_items(pages: PagesServer, tab: Tab) -> None:
    trial = invented_trial(5, spans="esa", per_rater=2)
    tab.open(pages.invite(trial, "Dan"))
    until_tutorial(tab, 1)
    tab.run(SKIP)
    for place in (1, 2):
        until_at(tab, place)
        score_by_keys(tab, "50", "70")
        tab.press("Enter")
    until_overview(tab)
    assert tab.run(COUNT) == "2 of 2 voted"
    assert len(pages.trials.votes(trial.id)) == 2


@pytest.mark.parametrize("width", [1280, 375])
def test_the_page_fits_its_window(pages: PagesServer, tab: Tab, width: int) -> None:
    trial = invented_trial(1, spans="mqm")
    tab.look(width=width, height=800)
    tab.open(pages.invite(trial, f"Eve{width}"))
    until_tutorial(tab, 1)
    assert not is_wide(tab, width)
