"""Tests between metrics: all pairs of 10 metrics on 10,000 ratings at once, against a loop over pairs and permutations.

The loop swaps with numpy and computes both correlations for each permutation; 20 permutations of each pair are timed
and multiplied by 50. Both sides are measured in processor time; `tests` hold that both give the same p-values.
"""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np

from benchmarks.claims import Claim, measure_alternately, ratios_by_round
from eval.statistics.counts import FloatArray
from eval.statistics.metric_differences import compare_metrics

METRICS = 10
RATINGS = 10_000
PERMUTATIONS = 1_000
TIMED = 20
"""Permutations of each pair that the loop is timed on."""
ROUNDS = 3


def measure() -> list[Claim]:
    """Compare all pairs of metrics both ways."""
    rng = np.random.default_rng(1)
    human = rng.normal(size=(1, RATINGS))
    scores = {f"m{number}": human + (1 + number / 10) * rng.normal(size=human.shape) for number in range(METRICS)}
    measured = measure_alternately(lambda: _loop(scores, human), lambda: _at_once(scores, human), rounds=ROUNDS)
    fastest = min(ours for _, ours in measured)
    note = f"{fastest:.2f} s of processor time"
    setting = f"{METRICS} metrics, {RATINGS:,} ratings, {PERMUTATIONS:,} permutations"
    return [Claim("a loop / all tests between metrics", ratios_by_round(measured), 20.0, note=note, setting=setting)]


def _at_once(scores: dict[str, FloatArray], human: FloatArray) -> float:
    began = time.process_time()
    compare_metrics(scores, human, samples=PERMUTATIONS, seed=1)
    return time.process_time() - began


def _loop(scores: dict[str, FloatArray], human: FloatArray) -> float:
    rng = np.random.default_rng(1)
    people = human.ravel()
    began = time.process_time()
    for first, second in combinations(scores.values(), 2):
        ours, theirs = ((one.ravel() - one.mean()) / one.std() for one in (first, second))
        for _ in range(TIMED):
            swap = rng.random(len(people)) < 0.5
            one, other = np.where(swap, theirs, ours), np.where(swap, ours, theirs)
            _ = np.corrcoef(one, people)[0, 1] - np.corrcoef(other, people)[0, 1]
    return (time.process_time() - began) * PERMUTATIONS / TIMED
