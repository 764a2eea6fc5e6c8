"""Measure every system by every metric, with intervals and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.metrics.metric import Metric, corpus_for_metric, metric_caveat, metric_signature
from eval.metrics.sacrebleu import is_tokenised
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from eval.statistics.multiple_comparisons import SystemSignificance, compare_with_baseline
from eval.statistics.paired_tests import (
    DEFAULT_SAMPLES,
    MIN_RESAMPLING_UNITS,
    ConfidenceInterval,
    PairedComparison,
    SignificanceMethod,
    bootstrap_interval,
)
from eval.statistics.rank_tests import WilcoxonResult
from eval.statistics.resampling import ResamplingUnit

SIGNIFICANCE_TESTS: Mapping[SignificanceMethod, str] = {
    "bootstrap": "paired bootstrap",
    "randomisation": "approximate randomisation",
}
"""The tests as named in text."""


@dataclass(frozen=True, slots=True)
class ResamplingOptions:
    """How to compute intervals and p-values; without a baseline there are no p-values."""

    by: ResamplingUnit
    baseline: str = ""
    samples: int = DEFAULT_SAMPLES
    seed: int = 1
    test: SignificanceMethod = "bootstrap"

    @property
    def signature(self) -> str:
        """Every setting that changes an interval or a p-value."""
        how = {"by": self.by, "samples": self.samples, "seed": self.seed}
        if not self.baseline:
            return metric_signature("bootstrap", **how)
        return metric_signature(f"paired-{self.test}", baseline=self.baseline, **how, correction="holm")


@dataclass(frozen=True, slots=True)
class EvaluationResults:
    """Counts by metric and system, with intervals and tests."""

    corpus: Corpus
    metrics: tuple[Metric, ...]
    counted: Mapping[str, Mapping[str, MetricCounts | Unmeasured]]
    standings: Mapping[str, Mapping[str, SystemSignificance]]
    resampling: ResamplingOptions

    def score(self, metric: str, system: str) -> Score | Unmeasured:
        """The score of a system by a metric, or why there is none."""
        found = self.counted[metric][system]
        return found if isinstance(found, Unmeasured) else found.score()

    def signatures(self) -> dict[str, str]:
        """The signature of each metric that measured any system."""
        found = {
            metric: next((one.signature for one in systems.values() if one.signature), "")
            for metric, systems in self.counted.items()
        }
        return {metric: signature for metric, signature in found.items() if signature}

    def caveats(self) -> tuple[str, ...]:
        """What a reader of the numbers must know: how texts were split, and what p-values are corrected for."""
        others = len(self.corpus.systems) - 1
        correction = (
            f"P-values are corrected by Holm's method for {others} comparisons with {self.resampling.baseline} by each "
            "metric. With fewer systems the same difference has a smaller p-value.",
        )
        corrected = correction if self.resampling.baseline and others > 1 else ()
        return (*self.corpus.caveats, *corrected, *self._tokenised(), *self._of_metrics())

    def _of_metrics(self) -> Iterator[str]:
        """What must be known of a metric wherever its scores stand."""
        for metric in self.metrics:
            measured = any(isinstance(one, MetricCounts) for one in self.counted[metric.name].values())
            if measured and (caveat := metric_caveat(metric)):
                yield f"{metric.name}: {caveat}"

    def _tokenised(self) -> Iterator[str]:
        """sacrebleu's warning: its tokenisers expect texts as people write them."""
        if not any(metric.name in ("bleu", "d-bleu", "sentence-bleu") for metric in self.metrics):
            return
        for system in self.corpus.systems:
            if is_tokenised([text for one in self.corpus.documents for text in one.outputs[system]]):
                yield (
                    f"The outputs of {system} seem to be tokenised (a hundred end in a period after a space): BLEU of "
                    "such texts can't be compared with BLEU of detokenised ones."
                )

    def by_document(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """Scores by metric, document and system; None where undefined."""
        return {
            metric: {
                document.id: {
                    system: values[place] if place < len(values) else None
                    for system, values in _documents(systems).items()
                }
                for place, document in enumerate(self.corpus.documents)
            }
            for metric, systems in self.counted.items()
        }

    def segments(self) -> Iterator[dict[str, Any]]:
        """One row for each segment and system, with its text and its scores by the segment metrics."""
        scores = {
            (metric, system): segment_scores(self.corpus, found)
            for metric, systems in self.counted.items()
            for system, found in systems.items()
            if isinstance(found, MetricCounts)
        }
        for number, document in enumerate(self.corpus.documents):
            for system in self.corpus.systems:
                for place, output in enumerate(document.outputs[system]):
                    fields = {
                        metric: scores[metric, system].get((number, place))
                        for metric in self.counted
                        if scores.get((metric, system))
                    }
                    yield {
                        "document": document.id,
                        "segment": place + 1,
                        "system": system,
                        "output": output,
                        "references": list(document.references_of(place)),
                        "scores": fields,
                    }

    def to_dict(self, *, documents: bool = False) -> dict[str, Any]:
        """For JSON."""
        corpus = self.corpus
        fields: dict[str, Any] = {
            "corpus": {
                "name": corpus.name,
                "documents": len(corpus.documents),
                "segments": len(corpus),
                "source_language": corpus.source_language,
                "target_language": corpus.target_language,
            },
            "resampling": {
                "by": self.resampling.by,
                "baseline": self.resampling.baseline or None,
                "samples": self.resampling.samples,
                "seed": self.resampling.seed,
                "test": self.resampling.test if self.resampling.baseline else None,
                "signature": self.resampling.signature,
            },
            "signatures": self.signatures(),
            "caveats": list(self.caveats()),
            "scores": [self._score_fields(metric, system) for metric in self.metrics for system in corpus.systems],
        }
        return fields | ({"by_document": self.by_document()} if documents else {})

    def _score_fields(self, metric: Metric, system: str) -> dict[str, Any]:
        score = self.score(metric.name, system)
        fields: dict[str, Any] = {"metric": metric.name, "system": system, "better": _direction(metric)}
        if isinstance(score, Unmeasured):
            return fields | {"score": None, "not_applicable": score.why}
        fields |= {"score": score.value, "parts": dict(score.parts)}
        standing = self.standings[metric.name].get(system)
        if standing and isinstance(standing.interval, ConfidenceInterval):
            fields["interval"] = [standing.interval.low, standing.interval.high]
        elif standing and isinstance(standing.interval, Unmeasured):
            fields["no_interval"] = standing.interval.why
        if standing and isinstance(standing.comparison, PairedComparison):
            fields["difference"] = standing.comparison.difference
            fields["difference_interval"] = [standing.comparison.low, standing.comparison.high]
            fields["p_value"] = standing.comparison.p_value
            fields["p_value_corrected"] = standing.corrected
        elif standing and isinstance(standing.comparison, Unmeasured):
            fields["no_test"] = standing.comparison.why
        if standing and isinstance(standing.ranks, WilcoxonResult):
            fields["wilcoxon"] = asdict(standing.ranks) | {"p_value_corrected": standing.ranks_corrected}
        elif standing and isinstance(standing.ranks, Unmeasured):
            fields["no_wilcoxon"] = standing.ranks.why
        return fields


def _direction(metric: Metric) -> str:
    return "higher" if metric.higher_is_better else "lower"


def default_resampling_unit(corpus: Corpus) -> ResamplingUnit:
    """Documents if there are enough of them to resample, else segments."""
    return "document" if len(corpus.documents) >= MIN_RESAMPLING_UNITS else "segment"


def measure_systems(
    corpus: Corpus,
    metrics: Sequence[Metric],
    *,
    resampling: ResamplingOptions | None = None,
    on_progress: Callable[[str, str], None] = lambda metric, system: None,
) -> EvaluationResults:
    """Count every system by every metric; `on_progress` is called with metric and system before each."""
    names = [metric.name for metric in metrics]
    if len(set(names)) < len(names):
        raise InputError("A metric is given twice.", field="metric")
    resampling = resampling or ResamplingOptions(default_resampling_unit(corpus))
    if resampling.baseline and resampling.baseline not in corpus.systems:
        raise InputError(
            f"There is no system called {resampling.baseline!r}. There are: {', '.join(corpus.systems)}.",
            field="baseline",
        )
    counted: dict[str, dict[str, MetricCounts | Unmeasured]] = {}
    for metric in metrics:
        seen = corpus_for_metric(metric, corpus)
        counted[metric.name] = {}
        for system in corpus.systems:
            on_progress(metric.name, system)
            counted[metric.name][system] = _count(metric, seen, system)
    standing = {metric.name: _standings(metric, counted[metric.name], resampling) for metric in metrics}
    return EvaluationResults(corpus, tuple(metrics), counted, standing, resampling)


def _count(metric: Metric, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
    """Count; a metric whose library or model is missing is unmeasured, and the others go on."""
    try:
        return metric.count(corpus, system)
    except InputError as error:
        if error.field != "metric":
            raise
        return Unmeasured(str(error).rstrip("."))


def _standings(
    metric: Metric, systems: Mapping[str, MetricCounts | Unmeasured], how: ResamplingOptions
) -> dict[str, SystemSignificance]:
    known = {name: one for name, one in systems.items() if isinstance(one, MetricCounts)}
    if how.baseline in known:
        return compare_with_baseline(
            known,
            baseline=how.baseline,
            higher_is_better=metric.higher_is_better,
            by=how.by,
            samples=how.samples,
            seed=how.seed,
            method=how.test,
        )
    return {
        name: SystemSignificance(bootstrap_interval(one, by=how.by, samples=how.samples, seed=how.seed))
        for name, one in known.items()
    }


def _documents(systems: Mapping[str, MetricCounts | Unmeasured]) -> dict[str, list[float | None]]:
    found: dict[str, list[float | None]] = {}
    for name, one in systems.items():
        values = one.document_scores() if isinstance(one, MetricCounts) else np.zeros(0)
        found[name] = [None if np.isnan(value) else float(value) for value in values]
    return found


def segment_scores(corpus: Corpus, counted: MetricCounts) -> dict[tuple[int, int], float | None]:
    """Scores by document and segment index; empty if the rows are not segments."""
    if counted.unit != "segment":
        return {}
    every = [(number, place) for number, _, place in corpus.segments()]
    if len(every) != len(counted.rows):
        every = [at for at in every if corpus.documents[at[0]].references_of(at[1])]
    if len(every) != len(counted.rows):
        return {}
    values = (None if np.isnan(value) else float(value) for value in counted.row_scores())
    return dict(zip(every, values, strict=True))
