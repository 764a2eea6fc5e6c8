"""Analysis page: self-contained, with all text escaped."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from eval.human.analysis.analysis import analyse_votes
from eval.human.answer import RaterAnswer, VoteBuilder
from eval.human.design import TrialDesign, make_trial
from eval.human.report import write_analysis_page
from eval.human.sheet import rater_sheet
from eval.human.vote import Vote
from tests.eval.human.trial_factory import a_corpus

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def votes() -> list[Vote]:
    """Two raters who prefer the systems in their order; one prefers half of the shuffled texts."""
    systems = ("a", EVIL, "c")
    design = TrialDesign(items=18, spam=0.5, repeats=0)
    trial = make_trial(a_corpus(systems=systems, books=("One", "Two")), design=design, raters=("anna", f"ben {EVIL}"))
    order = {name: place for place, name in enumerate((*systems, "(shuffled)"))}
    found = []
    for rater in trial.raters:
        for place, one in enumerate(rater_sheet(trial, rater)):
            best = min(one.first, one.second, key=lambda name: order[name])
            honest = one.item.kind != "spam" or rater == "anna" or place % 2
            chosen = best if honest else next(name for name in (one.first, one.second) if name != best)
            choice = "first" if chosen == one.first else "second"
            found.append(
                VoteBuilder(trial, rater).build_vote(
                    RaterAnswer.model_validate({"item": one.item.id, "choice": choice})
                )
            )
    return found


def test_the_page_has_all_parts_and_escapes_text(votes: list[Vote], tmp_path: Path) -> None:
    write_analysis_page(analyse_votes(votes, samples=100), tmp_path / "page.html", title=f"A title {EVIL}")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert EVIL.replace("<", "&lt;").replace(">", "&gt;") in page
    for heading in ("Preferences", "Without flagged raters", "Strengths on one scale", "By book", "By rater"):
        assert heading in page
    assert "default-src 'none'" in page
    assert not re.search(r'(?:src|href)="?(?!#)', page)


def test_a_rate_is_plotted_at_its_position(votes: list[Vote], tmp_path: Path) -> None:
    pairs = [vote for vote in votes if set(vote.pair) == {"a", "c"} and vote.kind == "pair"]
    write_analysis_page(analyse_votes(pairs, samples=100), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    # 60 units of margin on either side of a thousand: all votes for "a" are at 940.
    assert 'class="point" d="M940.0,10h0"' in page
    assert "100.0%" in page


def test_no_votes_and_only_ties_have_a_page(votes: list[Vote], tmp_path: Path) -> None:
    write_analysis_page(analyse_votes([], samples=100), tmp_path / "none.html")
    assert "There are no votes on a pair" in (tmp_path / "none.html").read_text(encoding="utf-8")
    ties = [replace(vote, choice="tie") for vote in votes]
    write_analysis_page(analyse_votes(ties, samples=100), tmp_path / "ties.html")
    assert "tie" in (tmp_path / "ties.html").read_text(encoding="utf-8")
