"""Influence of passages on a score: its change without the passage, or with the baseline's text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eval.corpus.corpus import Corpus, Document
from eval.statistics.counts import FloatArray, MetricCounts

# Smaller effects are rounding errors.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class RowInfluence:
    """A row of a metric, its position and its influence on the score."""

    document: int
    segment: int | None
    """None if the row is a whole document or its segment is unknown."""
    by: float


def most_influential_rows(
    corpus: Corpus, counted: MetricCounts, baseline: MetricCounts | None, *, most: int, up: bool
) -> list[RowInfluence]:
    """The rows that raised the score most, or lowered it most, largest first."""
    effects = _effects(counted, baseline)
    signed = effects if up else -effects
    order = np.argsort(-np.nan_to_num(signed, nan=-np.inf), kind="stable")[:most]
    places = list(_places(corpus, counted))
    return [
        RowInfluence(places[row][0], places[row][1], float(effects[row])) for row in order if signed[row] > _TOLERANCE
    ]


def _effects(counted: MetricCounts, baseline: MetricCounts | None) -> FloatArray:
    """The score minus the alternative score; NaN if that is undefined."""
    total = counted.rows.sum(axis=0)
    instead = 0 if baseline is None or not _alike(counted, baseline) else baseline.rows
    effects: FloatArray = counted.fold(total) - counted.fold(total - counted.rows + instead)
    return effects


def _alike(counted: MetricCounts, baseline: MetricCounts) -> bool:
    return counted.rows.shape == baseline.rows.shape and np.array_equal(counted.documents, baseline.documents)


def _places(corpus: Corpus, counted: MetricCounts) -> Iterator[tuple[int, int | None]]:
    """Document and segment of each row."""
    rows = np.bincount(counted.documents, minlength=len(corpus.documents))
    known = [iter(_segments(one, int(count), counted)) for one, count in zip(corpus.documents, rows, strict=True)]
    return ((int(document), next(known[document])) for document in counted.documents)


def _segments(document: Document, rows: int, counted: MetricCounts) -> Sequence[int | None]:
    """Segments of the rows. A segment metric may skip only segments without a reference."""
    every = range(len(document))
    translated = [segment for segment in every if document.references_of(segment)]
    fitting = (places for places in (every, translated) if len(places) == rows and counted.unit == "segment")
    return next(fitting, [None] * rows)
