"""Comparison of systems: scores, tests against the unchanged MT, wins, edits and differences."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.errors import InputError
from ape.passage.result import Finding, Severity
from eval.compare import DO_NOTHING, ParagraphOutcome, System, compare_systems, ready_system
from eval.compare.wins import SystemWins
from eval.metrics.registry import create_metrics
from tests.eval.compare.comparison_factory import BETTER, MT, WORSE, compared, data


def test_the_unchanged_mt_is_always_the_first_system() -> None:
    found = compared()
    assert found.names == (DO_NOTHING, "better", "worse")
    assert found.results.resampling.baseline == DO_NOTHING
    assert set(found.rates[DO_NOTHING]) == {0.0}


def test_wins_and_ties_are_counted_by_paragraph() -> None:
    matrix = compared().matrices["chrf"]
    # By hand: of four paragraphs the third is the same in all, and the fourth in the MT and the worse.
    assert matrix.wins["better", DO_NOTHING] == SystemWins(better=3, worse=0, ties=1)
    assert matrix.wins["worse", DO_NOTHING] == SystemWins(better=0, worse=2, ties=2)
    assert matrix.wins["better", DO_NOTHING].share == 1.0
    # Wilson for 3 of 3, by hand: from 3 / (3 + 1.96²).
    assert matrix.wins["better", DO_NOTHING].interval == pytest.approx((0.4385, 1.0), abs=1e-4)


def test_win_intervals_are_clustered_by_document_where_documents_are_resampled() -> None:
    over = data(times=5)
    found = compared(ready_system("better", BETTER * 5, over, given="@b"), over=over)
    assert found.results.resampling.by == "document"
    matrix = found.matrices["chrf"]
    wins = matrix.wins["better", DO_NOTHING]
    assert (wins.better, wins.worse) == (15, 0)
    # Wilson for 10 of 10 documents, by hand: from 10 / (10 + 1.96²). Of 15 paragraphs it would be 0.796.
    assert wins.interval == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert matrix.wins[DO_NOTHING, "better"].interval == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert matrix.intervals == "Wilson, clustered by document"
    assert compared().matrices["chrf"].intervals == "Wilson, paragraphs taken as independent"


@pytest.mark.parametrize(
    ("wins", "label"),
    [
        (SystemWins(0, 0, 4), "all ties"),
        (SystemWins(0, 0, 0, unscored=4), "no verdict"),
        (SystemWins(0, 0, 1, unscored=3), "ties or no verdict"),
    ],
)
def test_ties_and_missing_verdicts_are_distinguished(wins: SystemWins, label: str) -> None:
    assert wins.share is None
    assert wins.undecided == label


def test_a_lower_score_wins_where_lower_is_better() -> None:
    found = compared(metrics=create_metrics(["ter"]))
    assert found.matrices["ter"].wins["better", DO_NOTHING] == SystemWins(better=3, worse=0, ties=1)


def test_identical_systems_are_listed_and_have_p_1() -> None:
    over = data(times=2)
    found = compared(
        ready_system("copy", MT * 2, over, given="@c"), ready_system("better", BETTER * 2, over, given="@b"), over=over
    )
    assert found.identical_groups == [(DO_NOTHING, "copy")]
    values = found.to_dict()
    assert values["identical"] == [[DO_NOTHING, "copy"]]
    pair = next(one for one in values["pairs"]["chrf"] if (one["first"], one["second"]) == (DO_NOTHING, "copy"))
    assert (pair["difference"], pair["p_value"], pair["p_value_corrected"]) == (0.0, 1.0, 1.0)
    assert found.matrices["chrf"].wins["copy", DO_NOTHING].share is None


def test_all_pairs_are_tested_with_one_correction() -> None:
    over = data(times=2)
    systems = (ready_system("better", BETTER * 2, over, given="@b"), ready_system("worse", WORSE * 2, over, given="@w"))
    pairs = compared(*systems, over=over).to_dict()["pairs"]["chrf"]
    assert [(one["first"], one["second"]) for one in pairs] == [
        (DO_NOTHING, "better"),
        (DO_NOTHING, "worse"),
        ("better", "worse"),
    ]
    assert all(one["p_value_corrected"] >= one["p_value"] for one in pairs)


def test_without_references_scores_have_a_reason_and_edit_rates_remain() -> None:
    over = data(references=None)
    found = compared(ready_system("better", BETTER, over, given="@b"), over=over)
    values = found.to_dict()
    assert values["leading"] == ""
    assert all(score["score"] is None and score["not_applicable"] for score in values["scores"])
    assert values["systems"][1]["edit_rate"] > 0
    # By edit rate: the first paragraph was changed most.
    assert values["differ_most"][0]["id"] in ("north:1", "south:2")


def test_paragraphs_are_sorted_by_difference() -> None:
    most = compared().differ_most()
    assert [one["apart"] for one in most] == sorted((one["apart"] for one in most), reverse=True)
    assert "south:1" not in [one["id"] for one in most]


def test_findings_count_each_paragraph_once_by_worst_severity() -> None:
    rejection = Finding("length", Severity.REJECT, "too long", 1)
    warning = Finding("length", Severity.WARN, "long", 2)
    outcomes = (
        ParagraphOutcome("a", "rejected", (rejection, warning)),
        ParagraphOutcome("b", "edited", (warning, warning)),
    )
    assert System("m", "model", outcomes).findings() == {"length": {"reject": 1, "warn": 1}}


def test_a_system_with_too_few_paragraphs_is_rejected() -> None:
    over = data()
    short = System("short", "ready", (ParagraphOutcome("one", "edited"),))
    with pytest.raises(InputError, match="'short' has 1 paragraphs, but the set has 4"):
        compare_systems(over, [short], create_metrics(["chrf"]))


def test_results_are_reproducible_json() -> None:
    first, second = (json.dumps(compared().to_dict()) for _ in range(2))
    assert first == second


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from([*MT, *BETTER, *WORSE]), min_size=4, max_size=4))
def test_mirrored_pairs_swap_wins_and_losses(texts: list[str]) -> None:
    over = data()
    found = compared(ready_system("any", texts, over, given="@a"), over=over)
    wins = found.matrices["chrf"].wins
    ours, theirs = wins["any", DO_NOTHING], wins[DO_NOTHING, "any"]
    assert (ours.better, ours.worse, ours.ties) == (theirs.worse, theirs.better, theirs.ties)
    assert ours.better + ours.worse + ours.ties == 4
