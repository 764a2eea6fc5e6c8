"""Agreement of each metric with human votes, over the paragraphs that raters saw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.compare.comparison import SystemComparison
from eval.human.analysis.metric_agreement import metric_agreement
from eval.human.vote import Vote
from eval.metrics.metric import Metric
from eval.statistics.counts import Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval


def metric_agreements(compared: SystemComparison, votes: Sequence[Vote], *, seed: int) -> dict[str, dict[str, Any]]:
    """Agreement by metric, for JSON. The items of votes are paragraph ids of the set."""
    return {metric.name: _agreement(compared, metric, votes, seed=seed) for metric in compared.results.metrics}


def _agreement(compared: SystemComparison, metric: Metric, votes: Sequence[Vote], *, seed: int) -> dict[str, Any]:
    scores = {
        (paragraph, system): value
        for system, values in compared.by_paragraph(metric.name).items()
        for paragraph, value in zip(compared.data.ids, values, strict=True)
        if value is not None
    }
    if not scores:
        return {"not_applicable": f"{metric.name} has no score for single paragraphs"}
    better = metric.higher_is_better
    found = metric_agreement(votes, scores, metric=metric.name, higher_is_better=better, seed=seed)
    if isinstance(found, Unmeasured):
        return {"not_applicable": found.why}
    counts = {"votes": found.votes, "metric_ties": found.metric_ties, "left_out": found.left_out}
    return counts | {"accuracy": _interval(found.accuracy), "tau": _interval(found.tau)}


def _interval(found: ConfidenceInterval | Unmeasured) -> dict[str, Any]:
    if isinstance(found, Unmeasured):
        return {"not_applicable": found.why}
    return {"value": found.value, "interval": [found.low, found.high]}
