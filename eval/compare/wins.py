"""Who beats whom: how often one system is better than another, paragraph by paragraph, and whether chance did it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from eval.corpus import Corpus
from eval.metric import Counted, Metric, Unmeasured
from eval.preference.proportion import wilson
from eval.scoring import Resampling, Results, segment_scores
from eval.significance import Comparison, holm
from eval.significance.paired import Resamples

# Scores nearer to each other than this are the same, and the rest is rounding.
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Tested:
    """Two systems by one metric: the second's score less the first's, and its p-value among all pairs."""

    first: str
    second: str
    comparison: Comparison | Unmeasured
    corrected: float | None = None


@dataclass(frozen=True, slots=True)
class Wins:
    """How often one system was better than another; of the ties nobody has any."""

    better: int
    worse: int
    ties: int
    known: tuple[float, float] | None = None
    """The interval, where it was found otherwise: of votes, several may be on one item."""
    unscored: int = 0
    """Where a judge gave no verdict: neither a win nor a tie."""

    @property
    def share(self) -> float | None:
        """Of all that were decided."""
        decided = self.better + self.worse
        return self.better / decided if decided else None

    @property
    def undecided(self) -> str:
        """Why nobody has a share: a tie is an answer, and silence is none."""
        if not self.ties:
            return "no verdict"
        return "ties or no verdict" if self.unscored else "all ties"

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of 95%; Wilson's, as if the places were independent, where none is known."""
        decided = self.better + self.worse
        if self.known or not decided:
            return self.known
        found = wilson(self.better, decided)
        return found.low, found.high


@dataclass(frozen=True, slots=True)
class Matrix:
    """Wins of the first over the second, by metric; `unit` is what they are counted by."""

    unit: str
    wins: Mapping[tuple[str, str], Wins]


def pairwise(metric: Metric, counted: Mapping[str, Counted | Unmeasured], how: Resampling) -> list[Tested]:
    """Every two systems that were measured, with Holm's correction over all of them."""
    known = {name: one for name, one in counted.items() if isinstance(one, Counted)}
    if len(known) < 2:
        return []
    drawn = Resamples.of(known, by=how.by, samples=how.samples, seed=how.seed)
    better = metric.higher_is_better
    found = [
        Tested(one, other, drawn.compare(one, other, higher_is_better=better, method="bootstrap"))
        for one, other in combinations(known, 2)
    ]
    tested = [one.comparison.p_value for one in found if isinstance(one.comparison, Comparison)]
    corrected = iter(holm(tested))
    return [
        Tested(one.first, one.second, one.comparison, next(corrected))
        if isinstance(one.comparison, Comparison)
        else one
        for one in found
    ]


def win_matrix(results: Results, metric: Metric) -> Matrix | None:
    """Every system against every other, by segments where the metric is about them, else by documents."""
    counted = {name: one for name, one in results.counted[metric.name].items() if isinstance(one, Counted)}
    if len(counted) < 2:
        return None
    scores = {name: _scores(results.corpus, name, one) for name, one in counted.items()}
    by_segment = all(isinstance(key, tuple) for one in scores.values() for key in one)
    wins = {
        (one, other): _wins(scores[one], scores[other], higher=metric.higher_is_better)
        for one in scores
        for other in scores
        if one != other
    }
    return Matrix("paragraph" if by_segment else "document", wins)


Scores = Mapping[object, float | None]


def _scores(corpus: Corpus, system: str, counted: Counted) -> Scores:
    by_segment = segment_scores(corpus, system, counted)
    if by_segment:
        return dict(by_segment)
    return {
        place: None if value != value else float(value) for place, value in enumerate(counted.by_document())
    }


def _wins(ours: Scores, theirs: Scores, *, higher: bool) -> Wins:
    both = [(one, theirs.get(key)) for key, one in ours.items()]
    apart = [one - other for one, other in both if one is not None and other is not None]
    signed: Sequence[float] = apart if higher else [-one for one in apart]
    better = sum(one > _CLOSE for one in signed)
    worse = sum(one < -_CLOSE for one in signed)
    return Wins(better, worse, len(signed) - better - worse)
