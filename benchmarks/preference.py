"""Votes: a batch of Bradley-Terry fits against choix in a loop, and α and κ against other packages.

Ours computes strengths, intervals and ranks from 5,000 votes between 8 systems with 10,000 resamples. choix draws and
fits one resample at a time; 100 are timed and multiplied by 100. There are no ties, which choix does not support. Both
sides must give the same values. They are measured in processor time of all threads, which other load hardly affects.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.claims import Claim, measure_alternately, ratios_by_round
from eval.human.analysis.bradley_terry import bradley_terry
from eval.human.vote import Vote
from eval.statistics.agreement_coefficients import (
    answer_counts,
    cohen_kappa,
    coincidence_rows,
    contingency_rows,
    krippendorff_alpha,
)
from eval.statistics.bradley_terry import BradleyTerry, fit_strengths

ROUNDS = 5
VOTES = 5_000
SYSTEMS = 8
SAMPLES = 10_000
TIMED = 100
"""Number of choix fits that are timed in each round."""
ANSWERS = 100_000
_RATERS = 5
_CATEGORIES = 3
_NEEDED = {"choix": "choix", "krippendorff": "krippendorff", "sklearn": "scikit-learn"}
# choix stops at its own tolerance, so strengths are equal up to this difference.
_CLOSE = 1e-5


def missing() -> str | None:
    """Which packages are missing, as a sentence; None if none is."""
    absent = [package for module, package in _NEEDED.items() if find_spec(module) is None]
    if absent:
        return f"Votes are not measured: that needs {', '.join(absent)}. Type: pip install 'ape-books[bench]'"
    return None


def measure() -> list[Claim]:
    """Measure all claims, each after checking that both sides agree."""
    return [*_strengths(), _alpha(), _kappa()]


# --- strengths -------------------------------------------------------------------------------------------------------


def _strengths() -> list[Claim]:
    import choix  # type: ignore[import-not-found]

    pairs = _meetings()
    votes = [Vote(f"i{at}", "r", f"s{won}", f"s{lost}", "first") for at, (won, lost) in enumerate(pairs)]
    chance = np.random.default_rng(2)
    drawn = [pairs[chance.integers(VOTES, size=VOTES)] for _ in range(TIMED)]
    wins = np.stack([_wins(sample) for sample in drawn])
    _check_strengths(choix, drawn, wins)

    def from_votes() -> None:
        for _ in range(TIMED):
            choix.ilsr_pairwise(SYSTEMS, pairs[chance.integers(VOTES, size=VOTES)].tolist())

    def from_matrices() -> None:
        for matrix in wins:
            choix.ilsr_pairwise_dense(matrix)

    def ours() -> None:
        assert isinstance(bradley_terry(votes, samples=SAMPLES), BradleyTerry)

    ours()
    what = f"{VOTES:,} votes, {SYSTEMS} systems, {SAMPLES:,} fits"
    claims = []
    for text, theirs, bound in (
        ("choix, vote by vote / our Bradley-Terry", from_votes, 20.0),
        ("choix, from drawn win matrices / our Bradley-Terry", from_matrices, None),
    ):
        measured = measure_alternately(
            _processor_seconds(theirs, times=SAMPLES / TIMED), _processor_seconds(ours), rounds=ROUNDS
        )
        seconds = sorted(late for _, late in measured)[ROUNDS // 2]
        note = f"{seconds:.2f} s for all; strengths the same to {_CLOSE:g}"
        claims.append(Claim(text, ratios_by_round(measured), bound, "at least", note, f"votes: {what}"))
    return claims


def _meetings() -> Any:
    """Winner and loser of each vote, (votes, 2), for systems of known strengths."""
    chance = np.random.default_rng(1)
    strengths = np.linspace(-0.7, 0.7, SYSTEMS)
    first = chance.integers(SYSTEMS, size=VOTES)
    second = (first + chance.integers(1, SYSTEMS, size=VOTES)) % SYSTEMS
    won = chance.random(VOTES) < 1 / (1 + np.exp(strengths[second] - strengths[first]))
    return np.column_stack([np.where(won, first, second), np.where(won, second, first)])


def _wins(pairs: Any) -> Any:
    wins = np.zeros((SYSTEMS, SYSTEMS))
    np.add.at(wins, (pairs[:, 0], pairs[:, 1]), 1.0)
    return wins


def _check_strengths(choix: Any, drawn: list[Any], wins: Any) -> None:
    """Require the same strengths on the same resamples."""
    ours = fit_strengths(wins, prior=np.zeros(len(wins)))
    theirs = np.stack([choix.ilsr_pairwise(SYSTEMS, sample.tolist()) for sample in drawn])
    apart = float(np.abs(ours - (theirs - theirs.mean(axis=1, keepdims=True))).max())
    if apart > _CLOSE:
        raise AssertionError(f"our strengths and choix's differ by {apart:g}")


# --- agreement -------------------------------------------------------------------------------------------------------


def _answers(raters: int) -> Any:
    """Answers coded from 0, (items, raters): each rater gives the usual answer or a random one."""
    chance = np.random.default_rng(3)
    items = ANSWERS // raters
    usual = chance.choice(_CATEGORIES, size=(items, 1), p=[0.5, 0.15, 0.35])
    other = chance.choice(_CATEGORIES, size=(items, raters))
    return np.where(chance.random((items, raters)) < 0.6, usual, other)


def _alpha() -> Claim:
    import krippendorff  # type: ignore[import-not-found]

    codes = _answers(_RATERS)
    found: dict[str, float] = {}

    def theirs() -> None:
        table = codes.T.astype(float)
        found["krippendorff"] = krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")

    def ours() -> None:
        rows = coincidence_rows(answer_counts(codes, _CATEGORIES))
        found["ours"] = float(krippendorff_alpha(_CATEGORIES)(rows.sum(axis=0)))

    return _claim_after_agreement("krippendorff / our α", theirs, ours, found)


def _kappa() -> Claim:
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

    first, second = _answers(2).T
    found: dict[str, float] = {}

    def theirs() -> None:
        found["scikit-learn"] = float(cohen_kappa_score(first, second))

    def ours() -> None:
        rows = contingency_rows(first, second, _CATEGORIES)
        found["ours"] = float(cohen_kappa(_CATEGORIES)(rows.sum(axis=0)))

    return _claim_after_agreement("scikit-learn / our κ", theirs, ours, found)


def _claim_after_agreement(
    text: str, theirs: Callable[[], None], ours: Callable[[], None], found: dict[str, float]
) -> Claim:
    theirs()
    ours()
    if max(found.values()) - min(found.values()) > 1e-9:
        raise AssertionError(f"the values differ: {found}")
    measured = measure_alternately(_processor_seconds(theirs), _processor_seconds(ours), rounds=ROUNDS)
    return Claim(
        text, ratios_by_round(measured), None, "at least", f"both {found['ours']:.6f}", f"agreement: {ANSWERS:,} votes"
    )


def _processor_seconds(work: Callable[[], None], *, times: float = 1.0) -> Callable[[], float]:
    """A function that returns the processor seconds of the work, multiplied by `times`."""

    def measured() -> float:
        began = time.process_time()
        work()
        return times * (time.process_time() - began)

    return measured
