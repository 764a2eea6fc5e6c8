"""A system beside the references, annotated: what every DiP metric begins with.

With several references each asks its own questions, and the answers are counted together: the score is the mean over
the references, weighted by how much each asks. A segment that a reference does not have is not asked about by it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ape.errors import InputError
from ape.text.languages import language_code, language_name
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators import Annotation, Annotator
from eval.metrics.annotator import annotator_or_unmeasured
from eval.statistics.counts import Unmeasured


@dataclass(frozen=True, slots=True)
class AnnotatedSides:
    """One document in one reference and in a system's output, segment by segment."""

    id: str
    references: tuple[Annotation | None, ...]
    outputs: tuple[Annotation, ...]
    reference: int
    """Which reference of the document, from 0."""
    first: int
    """Its first segment among all segments of the corpus, which is a row of the statistics."""

    def both(self) -> Iterator[tuple[int, Annotation, Annotation]]:
        """The segments that the reference has, each with its place in the document."""
        pairs = zip(self.references, self.outputs, strict=True)
        for segment, (reference, output) in enumerate(pairs):
            if reference is not None:
                yield segment, reference, output


def dip_annotator_or_unmeasured(
    corpus: Corpus, languages: Collection[str], *, what: str, annotator: Annotator | None
) -> Annotator | Unmeasured:
    """The annotator that is given or that the language gets, or why a metric for such languages can't measure."""
    language = language_code(corpus.target_language)
    if language not in languages:
        known = " and ".join(language_name(code) for code in languages)
        told = "a language that nobody named" if language == "und" else language_name(language)
        return Unmeasured(f"{what} is defined for {known}, and the systems write {told}")
    if not any(text is not None for one in corpus.documents for texts in one.references for text in texts):
        return Unmeasured(f"{what} asks for what the reference has, and there is no reference")
    return annotator_or_unmeasured(language, annotator)


def annotate_sides(corpus: Corpus, system: str, annotator: Annotator) -> list[AnnotatedSides]:
    """Every document in every reference of it; all texts are annotated at once."""
    if system not in corpus.systems:
        raise InputError(f"There is no system {system!r} here; there are {', '.join(corpus.systems)}.")
    texts: dict[str, None] = {}
    for one in corpus.documents:
        for column in (one.outputs[system], *one.references):
            texts.update(dict.fromkeys(text for text in column if text is not None))
    known = dict(zip(texts, annotator.annotate(list(texts)), strict=True))
    sides, first = [], 0
    for one in corpus.documents:
        outputs = tuple(known[text] for text in one.outputs[system])
        for number, column in enumerate(one.references):
            references = tuple(None if text is None else known[text] for text in column)
            sides.append(AnnotatedSides(one.id, references, outputs, number, first))
        first += len(one)
    return sides


def row_documents(corpus: Corpus) -> NDArray[np.intp]:
    """Of each segment of the corpus, which is a row, the index of its document."""
    return np.repeat(np.arange(len(corpus.documents)), [len(one) for one in corpus.documents])
