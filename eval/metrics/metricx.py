"""MetricX-24, where its library is installed: errors of each segment from 0 (none) to 25, lower is better."""

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

_PACKAGE = "git+https://github.com/google-research/metricx.git"
_TOKENIZER = "google/mt5-xl"
_LONGEST = 1536


@dataclass(frozen=True, slots=True)
class MetricX:
    """MetricX-24 with a checkpoint from the hub or a directory; it reads source, output and reference."""

    checkpoint: str = "google/metricx-24-hybrid-large-v2p6"
    name: str = "metricx"
    predict: MetricPredictor | None = None
    """Default: the loaded checkpoint."""
    higher_is_better: bool = False

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """One prediction for each segment and reference."""
        segments = segments_with_references(corpus, system)
        if isinstance(segments, Unmeasured):
            return segments
        if not segments.sources:
            return Unmeasured("the source is not known")
        signature = metric_signature(self.name, model=self.checkpoint, nrefs=segments.reference_count, agg="mean")
        return count_predictions(self.predict or _load(self.checkpoint), segments, signature, scale=1)


@cache
def _load(checkpoint: str) -> MetricPredictor:
    try:
        from metricx24.models import MT5ForRegression  # type: ignore[import-not-found]
    except ImportError as error:
        raise InputError(f"MetricX is not installed. Type: pip install '{_PACKAGE}'", field="metric") from error
    import torch
    from transformers import AutoTokenizer

    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(_TOKENIZER)
        model: Any = MT5ForRegression.from_pretrained(checkpoint).eval()
    except Exception as error:  # of the hub, the files or the loader
        raise InputError(
            f"The MetricX model {checkpoint!r} could not be loaded: {error}. It is downloaded from the hub once.",
            field="metric",
        ) from error

    def predict(items: Sequence[Mapping[str, str]]) -> Sequence[float]:
        found = []
        for item in items:
            text = f"source: {item['src']} candidate: {item['mt']} reference: {item['ref']}"
            encoded = tokenizer(text, max_length=_LONGEST, truncation=True, return_tensors="pt")
            # The model was trained without the end mark that the tokeniser adds.
            with torch.no_grad():
                result = model(encoded["input_ids"][:, :-1], attention_mask=encoded["attention_mask"][:, :-1])
            found.append(float(result.predictions[0]))
        return found

    return predict
