"""Metrics that are models: COMET, COMETKiwi, COMET with context, and BLEURT, where they are installed.

Their weights are large and fetched by their own libraries; without a library there is a sentence with the command that
installs it. A score is the mean over segments, times 100; of several references, the mean over them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.metrics.metric import metric_signature
from eval.metrics.segments import ScorableSegments, segments_with_references, segments_with_sources
from eval.statistics.counts import MetricCounts, Unmeasured, mean_fold

_COMET = "unbabel-comet>=2.2"
_BLEURT = "git+https://github.com/google-research/bleurt.git"
_SEPARATOR = " </s> "


class MetricPredictor(Protocol):
    """Scores items: {"src", "mt", "ref"}, each a text."""

    def __call__(self, items: Sequence[Mapping[str, str]]) -> Sequence[float]:
        """One score for each, in order."""


@dataclass(frozen=True, slots=True)
class Comet:
    """COMET by a checkpoint of the hub or a file; one made for quality estimation takes no reference.

    With `context`, so many segments before stand before each text, and the score is of the last alone (Vernikos et al.
    2022). The output then has the reference's context, as there: an error is not counted again in the next segment.
    """

    checkpoint: str = "Unbabel/wmt22-comet-da"
    context: int = 0
    with_references: bool = True
    name: str = "comet"
    predict: MetricPredictor | None = None
    """Left out: the checkpoint, loaded."""
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """One prediction for each segment and reference."""
        segments = (
            segments_with_references(corpus, system)
            if self.with_references
            else segments_with_sources(corpus, system)
        )
        if isinstance(segments, Unmeasured):
            return segments
        if not segments.sources:
            return Unmeasured("the source is not known")
        items, of = _items(segments, self.context)
        predict = self.predict or _comet(self.checkpoint, bool(self.context))
        recipe: dict[str, object] = {"model": self.checkpoint}
        if self.with_references:
            recipe["nrefs"] = segments.reference_count
        if self.context:
            recipe["context"] = self.context
        return _counted(predict(items), of, segments, metric_signature(self.name, **recipe, agg="mean"))


@dataclass(frozen=True, slots=True)
class Bleurt:
    """BLEURT by a checkpoint's directory."""

    checkpoint: str = "BLEURT-20"
    name: str = "bleurt"
    predict: MetricPredictor | None = None
    """Left out: the checkpoint, loaded."""
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """One prediction for each segment and reference."""
        segments = segments_with_references(corpus, system)
        if isinstance(segments, Unmeasured):
            return segments
        items, of = _items(segments, 0)
        predict = self.predict or _bleurt(self.checkpoint)
        recipe = {"model": self.checkpoint.rstrip("/").rpartition("/")[2], "nrefs": segments.reference_count}
        return _counted(predict(items), of, segments, metric_signature(self.name, **recipe, agg="mean"))


def _counted(
    scores: Sequence[float], of: Sequence[int], segments: ScorableSegments, signature: str
) -> MetricCounts:
    rows = np.zeros((len(segments.outputs), 2))
    counts = np.bincount(of, minlength=len(rows))
    np.add.at(rows[:, 0], np.array(of), 100 * np.asarray(scores, float))
    rows[:, 0] /= counts
    rows[:, 1] = 1
    return MetricCounts(rows, segments.documents, mean_fold(), signature)


def _items(segments: ScorableSegments, context: int) -> tuple[list[dict[str, str]], list[int]]:
    """What is asked, and of which segment each is: one item for each reference, or one where there is none."""
    items, of = [], []
    for place, (output, given) in enumerate(zip(segments.outputs, segments.references, strict=True)):
        before = [
            at for at in range(max(0, place - context), place)
            if segments.documents[at] == segments.documents[place]
        ]  # fmt: skip
        for number in range(max(len(given), 1)):
            item = {"mt": _joined([_context_text(segments, at, number) for at in before], output)}
            if segments.sources:
                item["src"] = _joined([segments.sources[at] for at in before], segments.sources[place])
            if given:
                item["ref"] = _joined([_context_text(segments, at, number) for at in before], given[number])
            items.append(item)
            of.append(place)
    return items, of


def _context_text(segments: ScorableSegments, place: int, number: int) -> str:
    """What the output's reader has read before: the reference where there is one."""
    given = segments.references[place]
    return given[min(number, len(given) - 1)] if given else segments.outputs[place]


def _joined(before: Sequence[str], text: str) -> str:
    return _SEPARATOR.join([*before, text])


@cache
def _comet(checkpoint: str, context: bool) -> MetricPredictor:
    try:
        from comet import download_model, load_from_checkpoint  # type: ignore[import-not-found]
    except ImportError as error:
        raise InputError(f"COMET is not installed. Type: pip install '{_COMET}'", field="metric") from error
    try:
        path = checkpoint if checkpoint.endswith(".ckpt") else download_model(checkpoint)
        model: Any = load_from_checkpoint(path)
    except Exception as error:  # whatever the hub, the file or the loader says
        raise InputError(
            f"The COMET model {checkpoint!r} can't be had: {error}. It is fetched from the hub once; some models want "
            "their licence accepted there first.",
            field="metric",
        ) from error
    if context:
        model.enable_context()

    def predict(items: Sequence[Mapping[str, str]]) -> Sequence[float]:
        import torch

        gpus = 1 if torch.cuda.is_available() else 0
        return [float(one) for one in model.predict(list(items), batch_size=8, gpus=gpus).scores]

    return predict


@cache
def _bleurt(checkpoint: str) -> MetricPredictor:
    try:
        from bleurt.score import BleurtScorer  # type: ignore[import-not-found]
    except ImportError as error:
        raise InputError(f"BLEURT is not installed. Type: pip install '{_BLEURT}'", field="metric") from error
    try:
        scorer: Any = BleurtScorer(checkpoint)
    except Exception as error:  # TensorFlow's errors are of many kinds
        raise InputError(
            f"The BLEURT checkpoint {checkpoint!r} can't be loaded: {error}. Download one, and name its directory.",
            field="metric",
        ) from error

    def predict(items: Sequence[Mapping[str, str]]) -> Sequence[float]:
        references, outputs = [one["ref"] for one in items], [one["mt"] for one in items]
        return [float(one) for one in scorer.score(references=references, candidates=outputs)]

    return predict
