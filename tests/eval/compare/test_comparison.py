"""What a comparison finds: scores and tests against doing nothing, wins, edits, and where systems differ."""

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


def test_doing_nothing_is_always_the_first_system() -> None:
    found = compared()
    assert found.names == (DO_NOTHING, "better", "worse")
    assert found.results.resampling.baseline == DO_NOTHING
    assert set(found.rates[DO_NOTHING]) == {0.0}


def test_wins_are_counted_where_systems_differ() -> None:
    matrix = compared().matrices["chrf"]
    # By hand: of four paragraphs the third is the same in all, and the fourth in the MT and the worse.
    assert matrix.wins["better", DO_NOTHING] == SystemWins(better=3, worse=0, ties=1)
    assert matrix.wins["worse", DO_NOTHING] == SystemWins(better=0, worse=2, ties=2)
    assert matrix.wins["better", DO_NOTHING].share == 1.0
    # Wilson for 3 of 3, by hand: from 3 / (3 + 1.96²).
    assert matrix.wins["better", DO_NOTHING].interval == pytest.approx((0.4385, 1.0), abs=1e-4)


def test_wins_in_one_document_go_together_where_documents_are_resampled() -> None:
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
    ("wins", "told"),
    [
        (SystemWins(0, 0, 4), "all ties"),
        (SystemWins(0, 0, 0, unscored=4), "no verdict"),
        (SystemWins(0, 0, 1, unscored=3), "ties or no verdict"),
    ],
)
def test_a_tie_is_an_answer_and_silence_is_none(wins: SystemWins, told: str) -> None:
    assert wins.share is None
    assert wins.undecided == told


def test_lower_is_better_wins_too() -> None:
    found = compared(metrics=create_metrics(["ter"]))
    assert found.matrices["ter"].wins["better", DO_NOTHING] == SystemWins(better=3, worse=0, ties=1)


def test_systems_with_the_same_texts_are_named_and_have_p_1() -> None:
    over = data(times=2)
    found = compared(
        ready_system("copy", MT * 2, over, given="@c"),
        ready_system("better", BETTER * 2, over, given="@b"),
        over=over,
    )
    assert found.identical_groups == [(DO_NOTHING, "copy")]
    told = found.to_dict()
    assert told["identical"] == [[DO_NOTHING, "copy"]]
    pair = next(one for one in told["pairs"]["chrf"] if (one["first"], one["second"]) == (DO_NOTHING, "copy"))
    assert (pair["difference"], pair["p_value"], pair["p_value_corrected"]) == (0.0, 1.0, 1.0)
    assert found.matrices["chrf"].wins["copy", DO_NOTHING].share is None


def test_every_two_systems_are_tested_with_one_correction() -> None:
    over = data(times=2)
    systems = (
        ready_system("better", BETTER * 2, over, given="@b"),
        ready_system("worse", WORSE * 2, over, given="@w"),
    )
    pairs = compared(*systems, over=over).to_dict()["pairs"]["chrf"]
    assert [(one["first"], one["second"]) for one in pairs] == [
        (DO_NOTHING, "better"),
        (DO_NOTHING, "worse"),
        ("better", "worse"),
    ]
    assert all(one["p_value_corrected"] >= one["p_value"] for one in pairs)


def test_without_references_metrics_say_why_and_the_rest_is_there() -> None:
    over = data(references=None)
    found = compared(ready_system("better", BETTER, over, given="@b"), over=over)
    told = found.to_dict()
    assert told["leading"] == ""
    assert all(score["score"] is None and score["not_applicable"] for score in told["scores"])
    assert told["systems"][1]["edit_rate"] > 0
    # By edit rate: the first paragraph was changed most.
    assert told["differ_most"][0]["id"] in ("north:1", "south:2")


def test_where_systems_differ_most_comes_first() -> None:
    most = compared().differ_most()
    assert [one["apart"] for one in most] == sorted((one["apart"] for one in most), reverse=True)
    assert "south:1" not in [one["id"] for one in most]


def test_findings_count_paragraphs_once_by_the_gravest() -> None:
    refused = Finding("length", Severity.REJECT, "too long", 1)
    warned = Finding("length", Severity.WARN, "long", 2)
    outcomes = (
        ParagraphOutcome("a", "rejected", (refused, warned)),
        ParagraphOutcome("b", "edited", (warned, warned)),
    )
    assert System("m", "model", outcomes).findings() == {"length": {"reject": 1, "warn": 1}}


def test_a_system_with_too_few_paragraphs_is_refused() -> None:
    over = data()
    short = System("short", "ready", (ParagraphOutcome("one", "edited"),))
    with pytest.raises(InputError, match="'short' has 1 paragraphs, but the set has 4"):
        compare_systems(over, [short], create_metrics(["chrf"]))


def test_results_are_json_and_the_same_each_time() -> None:
    first, second = (json.dumps(compared().to_dict()) for _ in range(2))
    assert first == second


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from([*MT, *BETTER, *WORSE]), min_size=4, max_size=4))
def test_what_one_wins_the_other_loses(texts: list[str]) -> None:
    over = data()
    found = compared(ready_system("any", texts, over, given="@a"), over=over)
    wins = found.matrices["chrf"].wins
    ours, theirs = wins["any", DO_NOTHING], wins[DO_NOTHING, "any"]
    assert (ours.better, ours.worse, ours.ties) == (theirs.worse, theirs.better, theirs.ties)
    assert ours.better + ours.worse + ours.ties == 4
