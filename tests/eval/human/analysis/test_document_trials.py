"""Votes on consecutive passages of a document are clustered in every part of the analysis."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from eval.human.analysis import analyse_votes, format_analysis
from eval.human.analysis.bradley_terry import bradley_terry
from eval.human.analysis.metric_agreement import MetricAgreement, metric_agreement
from eval.human.analysis.position_effect import PositionEffect, position_effect
from eval.human.analysis.preference_rates import Preference, measure_preference
from eval.human.analysis.rater_agreement import RaterAgreement, rater_agreement
from eval.human.analysis.rater_checks import check_raters
from eval.human.analysis.sequential_looks import sequential_look
from eval.human.vote import Choice, Vote
from eval.statistics.bradley_terry import BradleyTerry, SystemStrength
from eval.statistics.confidence_sequence import SequentialLook
from eval.statistics.odds_ratio import OddsRatio
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.proportion import binomial_p_value


def document(name: str, winners: str, *, rater: str = "r", first: str = "x", second: str = "y") -> list[Vote]:
    """One vote per passage; the same system is first in all of them."""
    choices: list[Choice] = ["first" if winner == first else "second" for winner in winners]
    return [Vote(f"{name}:{at}", rater, first, second, choice, document=name) for at, choice in enumerate(choices, 1)]


def documents(number: int, winners: str, *, rater: str = "r", start: int = 0) -> list[Vote]:
    """Documents with alternating sides."""
    sides = [("x", "y"), ("y", "x")]
    return [
        vote
        for at in range(start, start + number)
        for vote in document(f"d{at}", winners, rater=rater, first=sides[at % 2][0], second=sides[at % 2][1])
    ]


def test_rates_are_clustered_by_document() -> None:
    own = documents(6, "xxxx") + documents(3, "yyyy", start=6)
    found = measure_preference(own, "x", "y")
    assert isinstance(found, Preference)
    assert found.rate == pytest.approx(24 / 36)
    assert found.itemwise
    assert found.itemwise.items == 9
    assert found.shown_p_value == pytest.approx(binomial_p_value(6, 9))  # by hand: 6 of 9 documents
    assert found.interval.low < found.bounds[0].low
    alone = measure_preference([replace(vote, document="") for vote in own], "x", "y")
    assert isinstance(alone, Preference)
    assert alone.itemwise is None


def test_a_true_null_with_document_effects_is_rejected_at_the_nominal_level() -> None:
    # 12 documents of 4 passages, a standard deviation of 2 in log odds. Unclustered, 14% are rejected.
    chance, rejected, rounds = np.random.default_rng(2), 0, 150
    for _ in range(rounds):
        likings = 1 / (1 + np.exp(-chance.normal(0, 2, 12)))
        wins = chance.random((12, 4)) < likings[:, None]
        own = [
            Vote(f"{at}:{place}", "r", "x", "y", "first" if won else "second", document=f"d{at}")
            for at, row in enumerate(wins)
            for place, won in enumerate(row)
        ]
        found = measure_preference(own, "x", "y")
        assert isinstance(found, Preference)
        rejected += found.shown_p_value < 0.05
    assert rejected / rounds <= 0.08


def test_sequential_looks_count_each_document_once() -> None:
    found = sequential_look(documents(10, "xxxx"), "x", "y")
    assert isinstance(found, SequentialLook)
    assert (found.votes, found.decided_at) == (10, None)


def test_position_bias_is_clustered_by_run() -> None:
    # x wins 8 of 12 documents, as often first as second: four votes a document are one run.
    wins = ["xxxx", "xxxx", "xxxx", "xxxx", "yyyy", "yyyy"]
    own = [
        vote
        for at, line in enumerate([*wins, *wins])
        for vote in document(f"d{at}", line, first="xy"[at % 2], second="yx"[at % 2])
    ]
    found = position_effect(own)
    assert isinstance(found, PositionEffect)
    assert (found.trials, found.rate) == (48, 0.5)
    assert isinstance(found.odds, OddsRatio)
    assert found.odds.units == 12


def test_preferring_one_system_throughout_a_document_is_not_a_side_preference() -> None:
    # The first text wins 10 of 12 documents: by passages 40 of 48. By hand: of 6 documents with x first and 6 with y
    # first x wins 5 and 1, so p = 2 · (6·6 + 1) / C(12, 6).
    lines = [("x", "y", "xxxx")] * 5 + [("x", "y", "yyyy")] + [("y", "x", "yyyy")] * 5 + [("y", "x", "xxxx")]
    (rater,) = check_raters(
        [
            vote
            for at, (first, second, line) in enumerate(lines)
            for vote in document(f"d{at}", line, first=first, second=second)
        ]
    )
    (side,) = rater.checks
    assert (side.failures, side.trials) == (40, 48)
    assert side.p_value == pytest.approx(2 * 37 / 924)
    assert not side.flagged


def test_strengths_agreement_and_metrics_are_resampled_by_document() -> None:
    wins = "xxyx", "yyxy", "xyxx", "xxxy", "yxyy", "xxxx"
    own = [
        vote
        for rater in ("ann", "ben")
        for at, line in enumerate(wins)
        for vote in document(f"d{at}", line if rater == "ann" else line[::-1], rater=rater)
    ]
    alone = [replace(vote, document="") for vote in own]
    strengths = [bradley_terry(given, samples=400) for given in (own, alone)]
    agreed = [rater_agreement(given, samples=400) for given in (own, alone)]
    scores = {(vote.item, "x"): float(vote.item[-1] < "3") for vote in own}
    scores |= {(vote.item, "y"): 0.5 for vote in own}
    sided = [metric_agreement(given, scores, metric="m", samples=400) for given in (own, alone)]
    assert all(isinstance(one, BradleyTerry) and one.items == 24 for one in strengths)
    for together, apart in (strengths, agreed, sided):
        ours, theirs = _interval(together), _interval(apart)
        assert ours.value == pytest.approx(theirs.value)
        assert (ours.low, ours.high) != (theirs.low, theirs.high)


def _interval(found: object) -> ConfidenceInterval | SystemStrength:
    """A value of the result, with its interval."""
    match found:
        case BradleyTerry():
            return found.strengths[0]
        case RaterAgreement(alpha=ConfidenceInterval() as alpha):
            return alpha
        case MetricAgreement(accuracy=ConfidenceInterval() as accuracy):
            return accuracy
    pytest.fail(f"not measured: {found}")


def test_the_text_says_that_votes_are_clustered_by_document() -> None:
    found = analyse_votes(documents(8, "xxyx"), samples=50)
    text = format_analysis(found)
    assert "Votes are clustered by document: 8 documents." in text
    assert "first vote on each document" in text
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["documents"] == 8
