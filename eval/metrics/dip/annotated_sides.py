"""Annotated pairs of a reference and an output, shared by the DiP metrics.

With several references, the items of each are counted and added up, so the score is the mean over references weighted
by their numbers of items. A segment that a reference lacks has no items.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ape.errors import InputError
from ape.text.languages import language_code, language_name
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators import Annotation, Annotator
from eval.metrics.annotator import annotator_or_unmeasured
from eval.statistics.counts import Fold, Unmeasured, share_fold


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
            sides.append(AnnotatedSides(one.id, references, outputs, number, first_row))
        first_row += len(one)
    return sides


def row_documents(corpus: Corpus) -> NDArray[np.intp]:
    """The document index of each row, one row for each segment."""
    return np.repeat(np.arange(len(corpus.documents)), [len(one) for one in corpus.documents])


def class_share_fold(
    classes: Iterable[int], width: int, numerators: Sequence[int], denominators: Sequence[int]
) -> Fold:
    """Per cent that some columns of the classes are of others, where each class has `width` columns."""
    starts = [width * index for index in classes]
    above, below = (
        [start + column for start in starts for column in columns] for columns in (numerators, denominators)
    )
    return share_fold(above, below, scale=100)
