"""Win matrix: how often one system beats another by paragraph or document, with pairwise tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

from eval.corpus.corpus import Corpus
from eval.metrics.metric import Metric
from eval.metrics.scoring import EvaluationResults, ResamplingOptions, segment_scores
from eval.statistics.clustered_proportion import clustered_proportion_by_unit
from eval.statistics.counts import MetricCounts, Unmeasured
from eval.statistics.multiple_comparisons import holm_correction
from eval.statistics.paired_tests import PairedComparison, Resamples
from eval.statistics.proportion import wilson_bounds

# Smaller differences are rounding errors.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class PairwiseTest:
    """Test of two systems by one metric, with the p-value corrected over all pairs."""

    first: str
    second: str
    comparison: PairedComparison | Unmeasured
    corrected: float | None = None


@dataclass(frozen=True, slots=True)
class SystemWins:
    """Number of wins, losses and ties of one system against another."""

    better: int
    worse: int
    ties: int
    known: tuple[float, float] | None = None
    """Interval for clustered units: paragraphs of a document, or votes on one item."""
    unscored: int = 0
    """Units without a verdict of the judge."""

    @property
    def mirrored(self) -> SystemWins:
        """The same from the other system's side."""
        known = (1 - self.known[1], 1 - self.known[0]) if self.known else None
        return SystemWins(self.worse, self.better, self.ties, known, self.unscored)

    @property
    def share(self) -> float | None:
        """Share of wins among decided units."""
        decided = self.better + self.worse
        return self.better / decided if decided else None

    @property
    def undecided(self) -> str:
        """Why there is no share."""
        if not self.ties:
            return "no verdict"
        return "ties or no verdict" if self.unscored else "all ties"

    @property
    def interval(self) -> tuple[float, float] | None:
        """95% interval; Wilson's for independent units unless a clustered one is known."""
        decided = self.better + self.worse
        if self.known or not decided:
            return self.known
        found = wilson_bounds(self.better, decided)
        return found.low, found.high


@dataclass(frozen=True, slots=True)
class WinMatrix:
    """Wins by pair of systems; `unit` is what is counted."""

    unit: str
    wins: Mapping[tuple[str, str], SystemWins]
    intervals: str
    """Method of the intervals."""


def add_mirrored_wins(wins: Mapping[tuple[str, str], SystemWins]) -> dict[tuple[str, str], SystemWins]:
    """Add the mirrored pairs."""
    return {**wins, **{(other, one): found.mirrored for (one, other), found in wins.items()}}


def pairwise_tests(
    metric: Metric, counted: Mapping[str, MetricCounts | Unmeasured], how: ResamplingOptions
) -> list[PairwiseTest]:
    """Test all pairs of measured systems, with Holm's correction."""
    known = {name: one for name, one in counted.items() if isinstance(one, MetricCounts)}
    if len(known) < 2:
        return []
    drawn = Resamples.of(known, by=how.by, samples=how.samples, seed=how.seed)
    better = metric.higher_is_better
    found = [
        PairwiseTest(one, other, drawn.compare(one, other, higher_is_better=better, method="bootstrap"))
        for one, other in combinations(known, 2)
    ]
    tested = [one.comparison.p_value for one in found if isinstance(one.comparison, PairedComparison)]
    corrected = iter(holm_correction(tested))
    return [
        replace(one, corrected=next(corrected)) if isinstance(one.comparison, PairedComparison) else one
        for one in found
    ]


def win_matrix(results: EvaluationResults, metric: Metric) -> WinMatrix | None:
    """Wins of all pairs of systems, by segment where the metric scores segments, else by document.

    Intervals are clustered by document where the tests resample documents.
    """
    counted = {name: one for name, one in results.counted[metric.name].items() if isinstance(one, MetricCounts)}
    if len(counted) < 2:
        return None
    scores = {name: _scores(results.corpus, one) for name, one in counted.items()}
    by_segment = all(isinstance(key, tuple) for one in scores.values() for key in one)
    unit = "paragraph" if by_segment else "document"
    together = by_segment and results.resampling.by == "document"
    wins = {
        (one, other): _wins(scores[one], scores[other], higher=metric.higher_is_better, by_document=together)
        for one, other in combinations(scores, 2)
    }
    intervals = "Wilson, clustered by document" if together else independence_label(unit)
    return WinMatrix(unit, add_mirrored_wins(wins), intervals)


def independence_label(unit: str) -> str:
    """Label of intervals for independent units."""
    return f"Wilson, {unit}s taken as independent"


ScorePlace: TypeAlias = int | tuple[int, int]
"""Index of a document, or of a document and a segment in it."""
ScoresByPlace: TypeAlias = Mapping[ScorePlace, float | None]


def _scores(corpus: Corpus, counted: MetricCounts) -> ScoresByPlace:
    by_segment = segment_scores(corpus, counted)
    if by_segment:
        return dict(by_segment)
    return {place: None if value != value else float(value) for place, value in enumerate(counted.document_scores())}


def _wins(ours: ScoresByPlace, theirs: ScoresByPlace, *, higher: bool, by_document: bool) -> SystemWins:
    sign = 1 if higher else -1
    both = {place: (one, theirs.get(place)) for place, one in ours.items()}
    apart = {
        place: sign * (one - other) for place, (one, other) in both.items() if one is not None and other is not None
    }
    won = {place: one > 0 for place, one in apart.items() if abs(one) > _TOLERANCE}
    better = sum(won.values())
    known = _by_document(won) if by_document else None
    return SystemWins(better, len(won) - better, len(apart) - len(won), known)


def _by_document(won: Mapping[ScorePlace, bool]) -> tuple[float, float] | None:
    """Interval clustered by document; None if every document has one unit."""
    documents = [place[0] if isinstance(place, tuple) else place for place in won]
    found = clustered_proportion_by_unit(documents, list(map(float, won.values())))
    return (found.bounds.low, found.bounds.high) if found else None
