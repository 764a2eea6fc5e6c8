"""Sufficient statistics of a metric, and the scores that are folded from them.

A metric counts once, row by row. A row is a segment, or a document for metrics that are defined on documents. Any sum
of rows folds into a score, so a bootstrap resample is one product of weights with the matrix of rows and needs no
second tokenisation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
Fold: TypeAlias = Callable[[FloatArray], FloatArray]
"""From sums of rows (…, columns) to scores (…); NaN where a score is undefined, as for a text without pronouns."""


@dataclass(frozen=True, slots=True)
class MetricCounts:
    """The counts of one metric for one system."""

    rows: FloatArray
    """(rows, columns)."""
    documents: NDArray[np.intp]
    """The index of each row's document in the corpus."""
    fold: Fold
    signature: str
    """Every setting that changes the number: "ter|case:lc|tok:tercom|v:0.1.0"."""
    unit: Literal["segment", "document"] = "segment"
    parts: Mapping[str, Fold] = field(default_factory=dict)
    """Folds for the scores of the metric's categories, from the same sums."""

    def score(self) -> Score | Unmeasured:
        """The score of all rows together."""
        total = self.rows.sum(axis=0)
        value = float(self.fold(total))
        if np.isnan(value):
            return Unmeasured("nothing of what it measures occurs", self.signature)
        parts = {name: float(fold(total)) for name, fold in self.parts.items()}
        return Score(value, self.signature, {k: None if np.isnan(v) else v for k, v in parts.items()})

    def row_scores(self) -> FloatArray:
        """The score of each row alone; NaN where it is undefined."""
        return self.fold(self.rows)

    def document_scores(self) -> FloatArray:
        """The score of each document up to the last one that has rows, in corpus order."""
        sums = np.zeros((int(self.documents.max(initial=-1)) + 1, self.rows.shape[1]))
        np.add.at(sums, self.documents, self.rows)
        return self.fold(sums)


@dataclass(frozen=True, slots=True)
class Score:
    """A number with the signature that says how it was computed."""

    value: float
    signature: str
    parts: Mapping[str, float | None] = field(default_factory=dict)
    """Scores of the categories; None for a category that does not occur."""


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """The reason why there is no number. Reported as "not applicable", never averaged."""

    why: str
    signature: str = ""


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; NaN, without a warning, where the denominator is 0."""
    above, below = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    quotient: FloatArray = np.divide(above, below, out=np.full(below.shape, np.nan), where=below != 0)
    return quotient


def mean_fold(total: int = 0, count: int = 1) -> Fold:
    """Fold of rows that hold a total in one column and its number of items in another."""
    return lambda sums: ratio(sums[..., total], sums[..., count])


def share_fold(numerators: Sequence[int], denominators: Sequence[int], scale: float = 1.0) -> Fold:
    """Fold that divides the sum of some columns by the sum of others."""
    above, below = list(numerators), list(denominators)
    return lambda sums: scale * ratio(sums[..., above].sum(axis=-1), sums[..., below].sum(axis=-1))
