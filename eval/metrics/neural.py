"""Shared parts of the metrics that are neural models loaded by their own libraries (COMET, BLEURT, MetricX).

The score is the mean over segments, mostly times 100; for several references, the mean over them first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from eval.metrics.segments import ScorableSegments
from eval.statistics.counts import MetricCounts, mean_fold

_SEPARATOR = " </s> "


class MetricPredictor(Protocol):
    """A model that scores items {"src", "mt", "ref"}, each a text."""

    def __call__(self, items: Sequence[Mapping[str, str]]) -> Sequence[float]:
        """One score for each item, in order."""


def count_predictions(
    predict: MetricPredictor, segments: ScorableSegments, signature: str, *, context: int = 0, scale: float = 100
) -> MetricCounts:
    """Score every segment against each of its references; `context` is the number of preceding segments to add."""
    items, indices = _items(segments, context)
    rows = np.zeros((len(segments.outputs), 2))
    np.add.at(rows[:, 0], np.array(indices), scale * np.asarray(predict(items), float))
    rows[:, 0] /= np.bincount(indices, minlength=len(rows))
    rows[:, 1] = 1
    return MetricCounts(rows, segments.documents, mean_fold(), signature)


def _items(segments: ScorableSegments, context: int) -> tuple[list[dict[str, str]], list[int]]:
    """The items to score, one for each reference or one without, and the segment index of each."""
    items, indices = [], []
    for index, (output, references) in enumerate(zip(segments.outputs, segments.references, strict=True)):
        before = [
            at for at in range(max(0, index - context), index)
            if segments.documents[at] == segments.documents[index]
        ]  # fmt: skip
        for number in range(max(len(references), 1)):
            item = {"mt": _join([_context_text(segments, at, number) for at in before], output)}
            if segments.sources:
                item["src"] = _join([segments.sources[at] for at in before], segments.sources[index])
            if references:
                item["ref"] = _join([_context_text(segments, at, number) for at in before], references[number])
            items.append(item)
            indices.append(index)
    return items, indices


def _context_text(segments: ScorableSegments, index: int, number: int) -> str:
    """The target text of a preceding segment: its reference if it has one, else the output."""
    references = segments.references[index]
    return references[min(number, len(references) - 1)] if references else segments.outputs[index]


def _join(before: Sequence[str], text: str) -> str:
    return _SEPARATOR.join([*before, text])
