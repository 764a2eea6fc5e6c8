"""Comparison of systems: scores, tests against the unchanged MT and pairwise, edit rates and differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ape.edits.diff import edit_rate
from ape.errors import InputError
from eval.compare.comparison_set import DO_NOTHING, ComparisonSet
from eval.compare.system import System, do_nothing_system, identical_systems
from eval.compare.wins import PairwiseTest, SystemWins, WinMatrix, pairwise_tests, win_matrix
from eval.metrics.metric import Metric
from eval.metrics.scoring import EvaluationResults, ResamplingOptions, measure_systems, segment_scores
from eval.statistics.counts import MetricCounts
from eval.statistics.paired_tests import DEFAULT_SAMPLES, MIN_RESAMPLING_UNITS, PairedComparison

# The leading metric is the first of these that was measured. Not BLEU, which is 0 for most single paragraphs.
_FIRST = ("chrf", "chrf++", "sentence-bleu", "ter")
# Number of reported paragraphs where systems differ most.
_MOST = 20


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """All systems over one set, the unchanged MT first."""

    data: ComparisonSet
    systems: tuple[System, ...]
    results: EvaluationResults
    pairs: Mapping[str, Sequence[PairwiseTest]]
    """By metric."""
    matrices: Mapping[str, WinMatrix]
    """By metric, for metrics that score paragraphs or documents."""
    rates: Mapping[str, Sequence[float]]
    """Edit rate of every paragraph by system."""
    judged: Mapping[str, Any] | None = None
    voted: Mapping[str, Any] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all systems."""
        return tuple(system.name for system in self.systems)

    @property
    def leading(self) -> str:
        """The metric that the report shows first; empty if nothing was measured."""
        measured = [metric.name for metric in self.results.metrics if metric.name in self.matrices]
        return next((name for name in _FIRST if name in measured), measured[0] if measured else "")

    @property
    def identical_groups(self) -> list[tuple[str, ...]]:
        """Groups of systems with the same texts throughout."""
        return identical_systems(self.systems)

    def score_ranges(self) -> list[float]:
        """Range of scores over the systems in every paragraph, by the leading metric or else by edit rate."""
        scores = self.by_paragraph(self.leading)
        columns = list(scores.values()) if len(scores) == len(self.systems) else list(self.rates.values())
        rows = [[score for score in row if score is not None] for row in zip(*columns, strict=True)]
        return [max(row) - min(row) if row else 0.0 for row in rows]

    def by_paragraph(self, metric: str) -> dict[str, list[float | None]]:
        """Scores of every paragraph by system; empty for metrics without paragraph scores."""
        corpus, counted = self.results.corpus, self.results.counted.get(metric, {})
        places = [(number, at) for number, _, at in corpus.segments()]
        by_system = {}
        for name, counts in counted.items():
            scores = segment_scores(corpus, counts) if isinstance(counts, MetricCounts) else {}
            if scores:
                by_system[name] = [scores.get(place) for place in places]
        return by_system

    def differ_most(self) -> list[dict[str, Any]]:
        """The paragraphs where systems differ most, with the difference."""
        ranges, ids = self.score_ranges(), self.data.ids
        order = sorted(range(len(ids)), key=lambda place: -ranges[place])[:_MOST]
        return [{"id": ids[place], "apart": ranges[place]} for place in order if ranges[place] > 0]

    def to_dict(self) -> dict[str, Any]:
        """For JSON; reproducible."""
        return self.results.to_dict(documents=True) | {
            "leading": self.leading,
            "systems": [self._system_dict(system) for system in self.systems],
            "identical": [list(names) for names in self.identical_groups],
            "pairs": {metric: [_test_dict(test) for test in tests] for metric, tests in self.pairs.items()},
            "wins": {
                metric: {
                    "unit": matrix.unit,
                    "intervals": matrix.intervals,
                    "pairs": [_wins_dict(pair, wins) for pair, wins in matrix.wins.items()],
                }
                for metric, matrix in self.matrices.items()
            },
            "differ_most": self.differ_most(),
            "judge": self.judged,
            "votes": self.voted,
        }

    def _system_dict(self, system: System) -> dict[str, Any]:
        rates = self.rates[system.name]
        values: dict[str, Any] = {"name": system.name, "kind": system.kind, "edit_rate": fmean(rates)}
        values["changed"] = sum(rate > 0 for rate in rates)
        if system.kind == "model":
            values |= {"decisions": dict(system.decisions), "findings": system.findings()}
        return values


@dataclass(frozen=True, slots=True)
class ComparisonResampling:
    """Settings of resampling; an empty `by` means documents where there are enough."""

    samples: int = DEFAULT_SAMPLES
    seed: int = 1
    by: str = ""


def compare_systems(
    data: ComparisonSet,
    systems: Sequence[System],
    metrics: Sequence[Metric],
    *,
    tests: ComparisonResampling | None = None,
    on_progress: Callable[[str, str], None] = lambda metric, system: None,
) -> SystemComparison:
    """Measure the systems and the unchanged MT; `on_progress` is called before each metric and system."""
    all_systems = (do_nothing_system(data), *systems)
    corpus = data.corpus
    for system in systems:
        if len(system.outcomes) != len(corpus):
            raise InputError(
                f"System {system.name!r} has {len(system.outcomes):,} paragraphs, but the set has {len(corpus):,}.",
                field="system",
            )
        corpus = corpus.with_system(system.name, data.by_document(system.texts))
    how = _resampling(tests or ComparisonResampling(), len(corpus.documents))
    results = measure_systems(corpus, metrics, resampling=how, on_progress=on_progress)
    matrices = {metric.name: win_matrix(results, metric) for metric in metrics}
    return SystemComparison(
        data,
        all_systems,
        results,
        {metric.name: pairwise_tests(metric, results.counted[metric.name], how) for metric in metrics},
        {name: matrix for name, matrix in matrices.items() if matrix},
        {system.name: _rates(data, system) for system in all_systems},
    )


def _resampling(tests: ComparisonResampling, documents: int) -> ResamplingOptions:
    by = tests.by or ("document" if documents >= MIN_RESAMPLING_UNITS else "segment")
    return ResamplingOptions("document" if by == "document" else "segment", DO_NOTHING, tests.samples, tests.seed)


def _rates(data: ComparisonSet, system: System) -> list[float]:
    return [edit_rate(mt, text) for mt, text in zip(data.mt_texts, system.texts, strict=True)]


def _test_dict(test: PairwiseTest) -> dict[str, Any]:
    pair, comparison = {"first": test.first, "second": test.second}, test.comparison
    if not isinstance(comparison, PairedComparison):
        return pair | {"not_applicable": comparison.why}
    return pair | {
        "difference": comparison.difference,
        "interval": [comparison.low, comparison.high],
        "p_value": comparison.p_value,
        "p_value_corrected": test.corrected,
    }


def _wins_dict(pair: tuple[str, str], wins: SystemWins) -> dict[str, Any]:
    values = {name: getattr(wins, name) for name in ("better", "worse", "ties", "share", "interval")}
    return {"first": pair[0], "second": pair[1]} | values
