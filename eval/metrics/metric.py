"""Statistics first, the score folded from them after: a bootstrap folds again and never tokenises again.

A metric counts once, row by row; a row is a segment, or a document where the metric is about documents. Any sum of rows
can be folded into a score, so a resample is a product of a matrix of weights with the matrix of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eval.corpus.corpus import Corpus

FloatArray: TypeAlias = NDArray[np.float64]
Fold: TypeAlias = Callable[[FloatArray], FloatArray]
"""Sums of rows (…, columns) to scores (…); NaN where the sums say nothing, such as no pronoun at all."""


@dataclass(frozen=True, slots=True)
class MetricCounts:
    """What a metric counted of one system."""

    rows: FloatArray
    """(rows, columns)."""
    documents: NDArray[np.intp]
    """Of each row, the index of its document in the corpus."""
    fold: Fold
    signature: str
    """Whatever changes the number: "ter|case:lc|tok:tercom|v:0.1.0"."""
    unit: Literal["segment", "document"] = "segment"
    parts: Mapping[str, Fold] = field(default_factory=dict)
    """The scores of its categories, folded from the same sums."""

    def scored(self) -> Score | Unmeasured:
        """The score of all rows together."""
        value = float(self.fold(self.rows.sum(axis=0)))
        if np.isnan(value):
            return Unmeasured("nothing of what it measures occurs", self.signature)
        total = self.rows.sum(axis=0)
        parts = {name: float(fold(total)) for name, fold in self.parts.items()}
        return Score(value, self.signature, {k: None if np.isnan(v) else v for k, v in parts.items()})

    def each(self) -> FloatArray:
        """The score of every row by itself; NaN where there is none."""
        return self.fold(self.rows)

    def by_document(self) -> FloatArray:
        """The score of every document that has rows, in the order of the corpus."""
        sums = np.zeros((int(self.documents.max(initial=-1)) + 1, self.rows.shape[1]))
        np.add.at(sums, self.documents, self.rows)
        return self.fold(sums)


@dataclass(frozen=True, slots=True)
class Score:
    """A number and how it was got."""

    value: float
    signature: str
    parts: Mapping[str, float | None] = field(default_factory=dict)
    """None: of this category nothing occurs."""


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """Why there is no number. It is shown as "not applicable", and never averaged."""

    why: str
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """Words that moved a score: where they are, and what about them. Offsets are characters of that text."""

    document: str
    segment: int
    side: Literal["source", "reference", "output"]
    start: int
    end: int
    kind: str
    """"lost", "added", "inconsistent" …; a report shows it as a class."""
    note: str = ""


class Metric(Protocol):
    """Its name, which way is better, and how it counts a system over a corpus."""

    @property
    def name(self) -> str:
        """As typed after --metric."""

    @property
    def higher_is_better(self) -> bool:
        """TER is better when it is low."""

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """Count; Unmeasured where it is not defined for this corpus (its language, no reference, no source)."""


class MarkingMetric(Protocol):
    """A metric that can show where."""

    def marks(self, corpus: Corpus, system: str) -> Iterable[Mark]:
        """The words that cost or saved the system something."""


def metric_signature(name: str, **recipe: object) -> str:
    """A signature: the name, whatever changes the number, and our version last."""
    told = [f"{key}:{_format_value(value)}" for key, value in recipe.items()]
    return "|".join([name, *told, f"v:{version('ape-books')}"])


def _format_value(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Their quotient, NaN (without a warning) where there is nothing to divide by."""
    above, below = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
    quotient: FloatArray = np.divide(above, below, out=np.full(below.shape, np.nan), where=below != 0)
    return quotient


def mean_fold(column: int = 0, number: int = 1) -> Fold:
    """A fold for rows that hold a sum in one column and how many it is of in another."""
    return lambda sums: ratio(sums[..., column], sums[..., number])
