"""Is one system better than another, or was it luck? Paired bootstrap and approximate randomisation for every metric.

Both fold resampled sums again and never look at a text. P-values are defined as in sacrebleu, so that they can be set
beside others': for the bootstrap (Koehn 2004, as in Moses), how often the size of the resampled difference exceeds its
own mean by the real one; for the randomisation (Noreen 1989, as in MultEval), how often swapping outputs at random
makes a difference as large as the real one. Unlike sacrebleu, as large counts too: systems that never differ have
p = 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from eval.statistics.counts import FloatArray, Fold, MetricCounts, Unmeasured
from eval.statistics.resampling import (
    ResamplingUnit,
    bootstrap_scores,
    randomization_differences,
    resampling_units,
)

SignificanceMethod: TypeAlias = Literal["bootstrap", "randomisation"]

DEFAULT_SAMPLES = 1000
CONFIDENCE_LEVEL = 0.95
# From fewer units chance can't be told: of two documents, every resample is one of three corpora.
MIN_RESAMPLING_UNITS = 5
# Sums of fractions differ in their last digits with the order of adding.
_CLOSE = 1e-9
_NOTHING = "nothing of what it measures occurs"
_NEVER = "in none of the resamples was there anything to measure"


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """Where a score lies in 95% of the resamples of the corpus."""

    value: float
    low: float
    high: float
    samples: int
    undefined: int
    """So many of the resamples had nothing to measure; they are left out."""


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """How far a system is from the baseline, and how likely chance alone takes it there."""

    difference: float
    """The other's score less the baseline's."""
    low: float
    """Of the bootstrap interval of the difference, whatever the test."""
    high: float
    p_value: float
    samples: int
    undefined: int
    """So many of the resamples had nothing to measure; they are left out."""
    better: bool | None
    """None where the scores are the same."""
    method: SignificanceMethod = "bootstrap"


@dataclass(frozen=True, slots=True)
class Resamples:
    """Systems drawn together, once for every question that is asked of them."""

    rows: Mapping[str, FloatArray]
    scores: Mapping[str, FloatArray]
    """In every resample, by system."""
    fold: Fold
    signature: str
    seed: int
    few: str = ""
    """Why there are neither intervals nor tests, where too few were drawn from."""

    @classmethod
    def of(
        cls, counted: Mapping[str, MetricCounts], *, by: ResamplingUnit, samples: int, seed: int
    ) -> Resamples:
        """Draw."""
        first = next(iter(counted.values()))
        rows = dict(zip(counted, resampling_units(list(counted.values()), by), strict=True))
        found = bootstrap_scores(list(rows.values()), first.fold, samples=samples, seed=seed)
        few = _few(first, by, min(map(len, rows.values())))
        return cls(rows, dict(zip(rows, found, strict=True)), first.fold, first.signature, seed, few)

    def interval(self, system: str) -> ConfidenceInterval | Unmeasured:
        """The percentile interval of a system's score."""
        value = self._value(system)
        if isinstance(value, Unmeasured):
            return value
        scores = self.scores[system]
        known = scores[~np.isnan(scores)]
        if not len(known):
            return Unmeasured(_NEVER, self.signature)
        return ConfidenceInterval(value, *_ends(known), len(scores), len(scores) - len(known))

    def compare(
        self, baseline: str, other: str, *, higher_is_better: bool, method: SignificanceMethod
    ) -> PairedComparison | Unmeasured:
        """Test whether two of the systems differ."""
        values = self._value(baseline), self._value(other)
        if isinstance(values[0], Unmeasured) or isinstance(values[1], Unmeasured):
            return next(value for value in values if isinstance(value, Unmeasured))
        difference = values[1] - values[0]
        drawn = self.scores[other] - self.scores[baseline]
        samples = len(drawn)
        tried = drawn
        if method == "randomisation":
            pair = self.rows[baseline], self.rows[other]
            tried = randomization_differences(*pair, self.fold, samples=samples, seed=self.seed)
        drawn, tried = drawn[~np.isnan(drawn)], np.abs(tried[~np.isnan(tried)])
        if not len(drawn) or not len(tried):
            return Unmeasured(_NEVER, self.signature)
        p_value = _share(tried - tried.mean() if method == "bootstrap" else tried, abs(difference))
        better = None if abs(difference) <= _CLOSE else (difference > 0) == higher_is_better
        return PairedComparison(
            difference, *_ends(drawn), p_value, samples, samples - len(tried), better, method
        )

    def _value(self, system: str) -> float | Unmeasured:
        rows = self.rows[system]
        value = float(self.fold(rows.sum(axis=0)))
        if np.isnan(value):
            return Unmeasured(_NOTHING, self.signature)
        return Unmeasured(self.few, self.signature) if self.few else value


def _few(counted: MetricCounts, by: ResamplingUnit, number: int) -> str:
    if number >= MIN_RESAMPLING_UNITS:
        return ""
    if counted.unit == "document" and by == "segment":
        return f"it scores whole documents, and there are only {number}"
    are = f"is only one {by}" if number == 1 else f"are only {number} {by}s"
    return f"there {are}, and chance can't be told from fewer than {MIN_RESAMPLING_UNITS}"


def bootstrap_interval(
    counted: MetricCounts, *, by: ResamplingUnit, samples: int = DEFAULT_SAMPLES, seed: int = 1
) -> ConfidenceInterval | Unmeasured:
    """The percentile bootstrap interval of a score."""
    return Resamples.of({"": counted}, by=by, samples=samples, seed=seed).interval("")


def compare_pair(
    baseline: MetricCounts,
    other: MetricCounts,
    *,
    higher_is_better: bool,
    by: ResamplingUnit,
    samples: int = DEFAULT_SAMPLES,
    seed: int = 1,
    method: SignificanceMethod = "bootstrap",
) -> PairedComparison | Unmeasured:
    """Test whether two systems differ."""
    drawn = Resamples.of({"baseline": baseline, "other": other}, by=by, samples=samples, seed=seed)
    return drawn.compare("baseline", "other", higher_is_better=higher_is_better, method=method)


def part_counts(counted: MetricCounts, name: str) -> MetricCounts:
    """One category of a metric, to be tested like a metric."""
    return replace(counted, fold=counted.parts[name], parts={}, signature=f"{counted.signature}|part:{name}")


def part_intervals(
    counted: MetricCounts, *, by: ResamplingUnit, samples: int = DEFAULT_SAMPLES, seed: int = 1
) -> dict[str, ConfidenceInterval | Unmeasured]:
    """The interval of every category, all from the same draws."""
    if not counted.parts:
        return {}
    (rows,) = resampling_units([counted], by)
    few = _few(counted, by, len(rows))
    folds = counted.parts.values()
    (scores,) = bootstrap_scores(
        [rows], lambda sums: np.stack([fold(sums) for fold in folds], axis=-1), samples=samples, seed=seed
    )
    found = {}
    for place, name in enumerate(counted.parts):
        part = part_counts(counted, name)
        own = Resamples({name: rows}, {name: scores[:, place]}, part.fold, part.signature, seed, few)
        found[name] = own.interval(name)
    return found


def _ends(scores: FloatArray) -> tuple[float, float]:
    low, high = np.quantile(scores, [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2])
    return float(low), float(high)


def _share(tried: FloatArray, real: float) -> float:
    """With one more of both, so that chance is never said to be impossible."""
    return float((np.sum(tried >= real - _CLOSE) + 1) / (len(tried) + 1))
