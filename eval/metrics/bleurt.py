"""BLEURT, where its library is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.metrics.metric import metric_signature
from eval.metrics.neural import MetricPredictor, count_predictions
from eval.metrics.segments import segments_with_references
from eval.statistics.counts import MetricCounts, Unmeasured

_PACKAGE = "git+https://github.com/google-research/bleurt.git"


@dataclass(frozen=True, slots=True)
class Bleurt:
    """BLEURT with a checkpoint directory."""

    checkpoint: str = "BLEURT-20"
    name: str = "bleurt"
    predict: MetricPredictor | None = None
    """Default: the loaded checkpoint."""
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """One prediction for each segment and reference."""
        segments = segments_with_references(corpus, system)
        if isinstance(segments, Unmeasured):
            return segments
        model = self.checkpoint.rstrip("/").rpartition("/")[2]
        signature = metric_signature(self.name, model=model, nrefs=segments.reference_count, agg="mean")
        return count_predictions(self.predict or _load(self.checkpoint), segments, signature)


@cache
def _load(checkpoint: str) -> MetricPredictor:
    try:
        from bleurt.score import BleurtScorer  # type: ignore[import-not-found]
    except ImportError as error:
        raise InputError(f"BLEURT is not installed. Type: pip install '{_PACKAGE}'", field="metric") from error
    try:
        scorer: Any = BleurtScorer(checkpoint)
    except Exception as error:  # TensorFlow raises many kinds
        raise InputError(
            f"The BLEURT checkpoint {checkpoint!r} could not be loaded: {error}. Download one and name its directory.",
            field="metric",
        ) from error

    def predict(items: Sequence[Mapping[str, str]]) -> Sequence[float]:
        references, outputs = [item["ref"] for item in items], [item["mt"] for item in items]
        return [float(score) for score in scorer.score(references=references, candidates=outputs)]

    return predict
