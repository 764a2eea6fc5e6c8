"""Annotated pairs of a reference and an output, shared by the DiP metrics.

With several references, the items of each are counted and added up, so the score is the mean over references weighted
by their numbers of items. A segment that a reference lacks has no items.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ape.errors import InputError
from ape.text.languages import language_code, language_name
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators import Annotation, Annotator
from eval.metrics.annotator import annotator_or_unmeasured
from eval.metrics.counts_cache import count_once
from eval.metrics.dip.omitted_connectives import ConnectiveContext
from eval.metrics.metric import Mark, metric_signature
from eval.statistics.counts import FloatArray, Fold, MetricCounts, Unmeasured, share_fold


@dataclass(frozen=True, slots=True)
class AnnotatedSides:
    """One document in one reference and in a system's output, segment by segment."""

    id: str
    references: tuple[Annotation | None, ...]
    outputs: tuple[Annotation, ...]
    reference: int
    """The index of the reference in the document."""
    first_row: int
    """The row of the document's first segment."""
    sources: tuple[str, ...] = ()
    """Empty where the source is unknown."""

    def connective_context(self, segment: int, reference: Annotation) -> ConnectiveContext | None:
        """What decides whether a connective of a segment is left out; None without a source."""
        if not self.sources:
            return None
        before = self.outputs[segment - 1] if segment else None
        after = self.outputs[segment + 1] if segment + 1 < len(self.outputs) else None
        return ConnectiveContext(self.sources[segment], reference, self.outputs[segment], before, after)

    def paired_annotations(self) -> Iterator[tuple[int, Annotation, Annotation]]:
        """The segments that the reference has, each with its index in the document."""
        pairs = zip(self.references, self.outputs, strict=True)
        for segment, (reference, output) in enumerate(pairs):
            if reference is not None:
                yield segment, reference, output


def dip_annotator_or_unmeasured(
    corpus: Corpus, languages: Collection[str], *, what: str, annotator: Annotator | None
) -> Annotator | Unmeasured:
    """The annotator given or the one for the language, or why the metric is undefined for this corpus."""
    language = language_code(corpus.target_language)
    if language not in languages:
        known = " and ".join(language_name(code) for code in languages)
        target = "an unknown language" if language == "und" else language_name(language)
        return Unmeasured(f"{what} is defined for {known}, and the outputs are in {target}")
    if not any(text is not None for one in corpus.documents for texts in one.references for text in texts):
        return Unmeasured(f"{what} needs a reference, and there is none")
    return annotator_or_unmeasured(language, annotator)


def annotate_sides(corpus: Corpus, system: str, annotator: Annotator) -> list[AnnotatedSides]:
    """Annotate every document with each of its references, all texts in one batch."""
    if system not in corpus.systems:
        raise InputError(f"There is no system called {system!r}. There are: {', '.join(corpus.systems)}.")
    texts: dict[str, None] = {}
    for one in corpus.documents:
        for column in (one.outputs[system], *one.references):
            texts.update(dict.fromkeys(text for text in column if text is not None))
    known = dict(zip(texts, annotator.annotate(list(texts)), strict=True))
    sides, first_row = [], 0
    for one in corpus.documents:
        outputs = tuple(known[text] for text in one.outputs[system])
        for number, column in enumerate(one.references):
            references = tuple(None if text is None else known[text] for text in column)
            sides.append(AnnotatedSides(one.id, references, outputs, number, first_row, one.sources))
        first_row += len(one)
    return sides


def class_share_fold(
    classes: Iterable[int], width: int, numerators: Sequence[int], denominators: Sequence[int]
) -> Fold:
    """Per cent that some columns of the classes are of others, where each class has `width` columns."""
    starts = [width * index for index in classes]
    above, below = (
        [start + column for start in starts for column in columns] for columns in (numerators, denominators)
    )
    return share_fold(above, below, scale=100)


@dataclass(frozen=True, slots=True)
class DipMetric:
    """What the metrics of connectives, consistency and pronouns share: one row of counts for each segment."""

    annotator: Annotator | None = None
    name: str = ""
    higher_is_better: bool = True

    subject: ClassVar[str]
    """The metric as the subject of a sentence."""
    languages: ClassVar[tuple[str, ...]] = ("en",)
    columns: ClassVar[int]
    settings: ClassVar[dict[str, Any]]
    """Settings for the signature."""

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """Count the outcomes of each class, segment by segment."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return annotator
        documents = np.repeat(np.arange(len(corpus.documents)), [len(one) for one in corpus.documents])
        signature = self._signature(annotator)

        def count() -> list[list[float]]:
            rows = np.zeros((len(documents), self.columns))
            self._add_counts(rows, corpus, system, annotator)
            counted: list[list[float]] = rows.tolist()
            return counted

        rows = np.asarray(count_once(corpus, system, signature, count)).reshape(len(documents), self.columns)
        fold, parts = self._folds()
        return MetricCounts(rows, documents, fold, signature, parts=parts)

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """The words that lowered the score."""
        annotator = self._annotator(corpus)
        if not isinstance(annotator, Unmeasured):
            yield from self._marks(corpus, system, annotator)

    def _signature(self, annotator: Annotator) -> str:
        return metric_signature(self.name, **self.settings, refs="each", annotator=annotator.name)

    def _annotator(self, corpus: Corpus) -> Annotator | Unmeasured:
        return dip_annotator_or_unmeasured(corpus, self.languages, what=self.subject, annotator=self.annotator)

    def _add_counts(self, rows: FloatArray, corpus: Corpus, system: str, annotator: Annotator) -> None:
        raise NotImplementedError

    def _folds(self) -> tuple[Fold, dict[str, Fold]]:
        """The fold of the score, and those of its parts."""
        raise NotImplementedError

    def _marks(self, corpus: Corpus, system: str, annotator: Annotator) -> Iterator[Mark]:
        raise NotImplementedError
