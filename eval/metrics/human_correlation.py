"""Agreement of a metric with people: the correlation of its segment scores with human scores."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ape.errors import InputError
from eval.corpus.human_scores import RatedSystem
from eval.metrics.metric import Metric, corpus_for_metric
from eval.statistics.correlation import HumanCorrelation, correlate_scores
from eval.statistics.counts import Unmeasured


def correlate_with_humans(
    metric: Metric, rated: Iterable[RatedSystem], *, score_name: str = "score", samples: int = 0, seed: int = 1
) -> HumanCorrelation | Unmeasured:
    """The correlation over all segments of all systems, with intervals if there are resamples."""
    ours, theirs = [], []
    sheets: list[str] = []
    sentences: list[str] = []
    signature = ""
    for system in rated:
        if score_name not in system.scores:
            raise InputError(
                f"There are no human scores for {score_name!r}, only for {', '.join(system.scores)}.",
                field="score_name",
            )
        counted = metric.count(corpus_for_metric(metric, system.corpus), system.system)
        if isinstance(counted, Unmeasured):
            return counted
        values = counted.row_scores() * (1 if metric.higher_is_better else -1)
        if counted.unit != "segment" or len(values) != len(system.scores[score_name]):
            return Unmeasured(f"{metric.name} scores {counted.unit}s, and people scored segments", counted.signature)
        ours.append(values)
        theirs.append(system.scores[score_name])
        sheets += [document.id for _, document, _ in system.corpus.segments()]
        sentences += system.sentences
        signature = counted.signature
    return correlate_scores(
        np.concatenate(ours),
        np.concatenate(theirs),
        sheets=sheets,
        sentences=sentences,
        signature=signature,
        samples=samples,
        seed=seed,
    )
