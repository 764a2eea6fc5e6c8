"""Paired bootstrap and approximate randomisation tests of two systems, for every metric.

Both fold resampled sums of counts and never read a text. P-values are defined as in sacrebleu, to be comparable: for
the bootstrap (Koehn 2004, as in Moses), how often the absolute resampled difference exceeds its own mean by the
observed one; for the randomisation (Noreen 1989, as in MultEval), how often randomly swapped outputs differ by at least
the observed difference. Unlike sacrebleu, equality counts as well: systems that never differ have p = 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from eval.statistics.counts import FloatArray, Fold, MetricCounts, Unmeasured
from eval.statistics.resampling import ResamplingUnit, bootstrap_scores, randomization_differences, resampling_units

SignificanceMethod: TypeAlias = Literal["bootstrap", "randomisation"]

DEFAULT_SAMPLES = 1000
CONFIDENCE_LEVEL = 0.95
# Fewer units give too few distinct resamples: with two documents, every resample is one of three corpora.
MIN_RESAMPLING_UNITS = 5
# Sums of fractions differ in their last digits with the order of adding.
_TOLERANCE = 1e-9
_NOTHING_OCCURS = "nothing of what it measures occurs"
_NEVER_MEASURABLE = "no resample has anything to measure"


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """A score with its 95% percentile interval over resamples of the corpus."""

    value: float
    low: float
    high: float
    samples: int
    undefined: int
    """Resamples with nothing to measure, which are left out."""


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """The difference between a system and the baseline, and its p-value."""

    difference: float
    """The other system's score minus the baseline's."""
    low: float
    """Lower bound of the bootstrap interval of the difference, for either test."""
    high: float
    p_value: float
    samples: int
    undefined: int
    """Resamples with nothing to measure, which are left out."""
    better: bool | None
    """Whether the other system is better; None if the scores are equal."""
    method: SignificanceMethod = "bootstrap"


@dataclass(frozen=True, slots=True)
class Resamples:
    """Resamples of several systems, drawn together and used for all intervals and tests."""

    rows: Mapping[str, FloatArray]
    scores: Mapping[str, FloatArray]
    """The score in every resample, by system."""
    fold: Fold
    signature: str
    seed: int
    too_few_reason: str = ""
    """Why there are no intervals or tests, if there are too few units."""

    @classmethod
    def of(cls, counted: Mapping[str, MetricCounts], *, by: ResamplingUnit, samples: int, seed: int) -> Resamples:
        """Draw the resamples."""
        first = next(iter(counted.values()))
        rows = dict(zip(counted, resampling_units(list(counted.values()), by), strict=True))
        found = bootstrap_scores(list(rows.values()), first.fold, samples=samples, seed=seed)
        too_few = _too_few_reason(first, by, min(map(len, rows.values())))
        return cls(rows, dict(zip(rows, found, strict=True)), first.fold, first.signature, seed, too_few)

    def interval(self, system: str) -> ConfidenceInterval | Unmeasured:
        """The percentile interval of a system's score."""
        value = self._value(system)
        if isinstance(value, Unmeasured):
            return value
        scores = self.scores[system]
        known = scores[~np.isnan(scores)]
        if not len(known):
            return Unmeasured(_NEVER_MEASURABLE, self.signature)
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
        null_differences = drawn
        if method == "randomisation":
            pair = self.rows[baseline], self.rows[other]
            null_differences = randomization_differences(*pair, self.fold, samples=samples, seed=self.seed)
        drawn, null_differences = (drawn[~np.isnan(drawn)], np.abs(null_differences[~np.isnan(null_differences)]))
        if not len(drawn) or not len(null_differences):
            return Unmeasured(_NEVER_MEASURABLE, self.signature)
        p_value = _share(
            null_differences - null_differences.mean() if method == "bootstrap" else null_differences, abs(difference)
        )
        better = None if abs(difference) <= _TOLERANCE else (difference > 0) == higher_is_better
        return PairedComparison(
            difference, *_ends(drawn), p_value, samples, samples - len(null_differences), better, method
        )

    def _value(self, system: str) -> float | Unmeasured:
        rows = self.rows[system]
        value = float(self.fold(rows.sum(axis=0)))
        if np.isnan(value):
            return Unmeasured(_NOTHING_OCCURS, self.signature)
        return Unmeasured(self.too_few_reason, self.signature) if self.too_few_reason else value


def _too_few_reason(counted: MetricCounts, by: ResamplingUnit, number: int) -> str:
    if number >= MIN_RESAMPLING_UNITS:
        return ""
    if counted.unit == "document" and by == "segment":
        return f"it scores whole documents, and there are only {number}"
    are = f"is only one {by}" if number == 1 else f"are only {number} {by}s"
    return f"there {are}, and tests need at least {MIN_RESAMPLING_UNITS}"


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
    """The counts of one category, usable like those of a metric."""
    return replace(counted, fold=counted.parts[name], parts={}, signature=f"{counted.signature}|part:{name}")


def part_intervals(
    counted: MetricCounts, *, by: ResamplingUnit, samples: int = DEFAULT_SAMPLES, seed: int = 1
) -> dict[str, ConfidenceInterval | Unmeasured]:
    """The interval of every category, from the same resamples."""
    if not counted.parts:
        return {}
    (rows,) = resampling_units([counted], by)
    too_few = _too_few_reason(counted, by, len(rows))
    folds = counted.parts.values()
    (scores,) = bootstrap_scores(
        [rows], lambda sums: np.stack([fold(sums) for fold in folds], axis=-1), samples=samples, seed=seed
    )
    found = {}
    for column, name in enumerate(counted.parts):
        part = part_counts(counted, name)
        own = Resamples({name: rows}, {name: scores[:, column]}, part.fold, part.signature, seed, too_few)
        found[name] = own.interval(name)
    return found


def _ends(scores: FloatArray) -> tuple[float, float]:
    low, high = np.quantile(scores, [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2])
    return float(low), float(high)


def _share(null_differences: FloatArray, real: float) -> float:
    """The p-value, with 1 added to numerator and denominator so that it is never 0."""
    return float((np.sum(null_differences >= real - _TOLERANCE) + 1) / (len(null_differences) + 1))
