"""COMET, COMETKiwi (no references) and COMET with document context, where `unbabel-comet` is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.metrics.metric import metric_signature
from eval.metrics.neural import MetricPredictor, count_predictions
from eval.metrics.segments import segments_with_references, segments_with_sources
from eval.statistics.counts import MetricCounts, Unmeasured

_PACKAGE = "unbabel-comet>=2.2"


@dataclass(frozen=True, slots=True)
class Comet:
    """COMET with a checkpoint from the hub or a file; a quality-estimation checkpoint takes no reference.

    With `context`, that many preceding segments are put before each text and only the last is scored (Vernikos et al.
    2022). As there, the output gets the reference's context, so that an error is not counted again in the next segment.
    """

    checkpoint: str = "Unbabel/wmt22-comet-da"
    context: int = 0
    with_references: bool = True
    name: str = "comet"
    predict: MetricPredictor | None = None
    """Default: the loaded checkpoint."""
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """One prediction for each segment and reference."""
        select = segments_with_references if self.with_references else segments_with_sources
        segments = select(corpus, system)
        if isinstance(segments, Unmeasured):
            return segments
        if not segments.sources:
            return Unmeasured("the source is not known")
        settings: dict[str, object] = {"model": self.checkpoint}
        if self.with_references:
            settings["nrefs"] = segments.reference_count
        if self.context:
            settings["context"] = self.context
        predict = self.predict or _load(self.checkpoint, bool(self.context))
        signature = metric_signature(self.name, **settings, agg="mean")
        return count_predictions(predict, segments, signature, context=self.context)


@cache
def _load(checkpoint: str, context: bool) -> MetricPredictor:
    try:
        from comet import download_model, load_from_checkpoint  # type: ignore[import-not-found]
    except ImportError as error:
        raise InputError(f"COMET is not installed. Type: pip install '{_PACKAGE}'", field="metric") from error
    try:
        path = checkpoint if checkpoint.endswith(".ckpt") else download_model(checkpoint)
        model: Any = load_from_checkpoint(path)
    except Exception as error:  # of the hub, the file or the loader
        raise InputError(
            f"The COMET model {checkpoint!r} could not be loaded: {error}. It is downloaded from the hub once; some "
            "models require accepting their licence there first.",
            field="metric",
        ) from error
    if context:
        model.enable_context()

    def predict(items: Sequence[Mapping[str, str]]) -> Sequence[float]:
        import torch

        gpus = 1 if torch.cuda.is_available() else 0
        return [float(score) for score in model.predict(list(items), batch_size=8, gpus=gpus).scores]

    return predict
