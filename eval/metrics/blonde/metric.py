"""BlonDe, dBlonDe over its four discourse categories, and BlonDe+ with annotated ambiguity and ellipsis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from eval.corpus.corpus import Corpus
from eval.linguistics.annotators import Annotation, Annotator
from eval.metrics.annotator import annotator_or_unmeasured
from eval.metrics.blonde import folds
from eval.metrics.blonde.categories import BLONDE_PLUS_CATEGORIES, TYPE_COUNT
from eval.metrics.blonde.counts import BlondeCounts, count_types
from eval.metrics.blonde.differences import mark_differences
from eval.metrics.blonde.human_annotation import AnnotatedNames, AnnotatedWordings, add_names, count_wordings
from eval.metrics.counts_cache import count_once
from eval.metrics.metric import Mark, metric_signature
from eval.statistics.counts import FloatArray, Fold, MetricCounts, Unmeasured

# Segments annotated and counted together: large enough for speed, with constant memory for any book.
CHUNK = 2048
_NONE = Annotation((), (), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Blonde:
    """BlonDe (Jiang et al. 2022): the F1 of geometric means over eight keys, 0 to 1.

    The keys are the tenses, pronouns, names and discourse markers, and n-grams of the orders 1 to 4. A type's matches
    are the smaller of its counts in output and reference, line by line; of several references the largest count
    holds. Counts are summed over all lines before anything is divided.

    The reference code has defects; this implementation treats them as follows:
    - Its NER refinement has no effect. Here `names`, if given, are the names of the references and are found in the
      output by their words; other names that a recogniser finds in the output count as surplus.
    - A BlonDe+ object changes the weights of all later objects. Here all values are frozen and none is shared.
    - Merging several references changes the first of them for later scores. Here every score counts anew.
    - Add-k smoothing, weight normalisation and the bootstrap crash. Here smoothing is always exponential, weights are
      used as given, and every bootstrap folds the sums of `MetricCounts`.
    - Exponential smoothing divides by weighted counts, so the smoothed value is four times sacrebleu's. Here it equals
      sacrebleu's.
    - Effective order fills precisions from recalls. Here there is no effective order: an undefined recall or precision
      is left out of its mean, and so is a category that does not occur.
    - The marker "else," with its comma never matches a token. Here the marker is "else".
    - HIM in capitals does not count as a pronoun. Here pronouns count in any case.
    - The command line lower-cases texts before tagging and the API does not, so scores differ and names are lost. Here
      the annotator always reads the original text; `lowercase` applies to the comparison of n-grams and names, is off
      by default, and is in the signature.
    """

    annotator: Annotator | None = None
    """Default: the annotator for the language."""
    lowercase: bool = False
    weights: folds.BlondeWeights = folds.PUBLISHED_WEIGHTS
    names: AnnotatedNames = field(default_factory=dict)
    """By document and segment: annotated names in the references."""

    name: ClassVar[str] = "blonde"
    higher_is_better: ClassVar[bool] = True
    keys: ClassVar[tuple[str, ...]] = (*folds.DISCOURSE_CATEGORIES, *folds.N_GRAM_KEYS)

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """Three counts of each type for every segment with a reference."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return annotator
        documents = [number for number, _ in _places(corpus)]
        return MetricCounts(
            self._all_rows(corpus, system, annotator),
            np.array(documents, dtype=np.intp),
            folds.f1_fold(self.keys, self.weights),
            self._signature(corpus, annotator),
            parts=self._parts(),
        )

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """Tenses, pronouns, names and markers that the output lost from the first reference, or added to it."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return
        for chunk in _chunks(corpus):
            outputs, references = self._annotations(chunk, corpus, system, annotator)
            for row, (number, segment) in enumerate(chunk):
                reference = next((side[row] for side in references if side[row] is not _NONE), None)
                if reference is not None:
                    document = corpus.documents[number].id
                    yield from mark_differences(document, segment, outputs[row], reference, self.weights)

    def _annotator(self, corpus: Corpus) -> Annotator | Unmeasured:
        if corpus.target_language.partition("-")[0] != "en":
            return Unmeasured(
                f"{self.name} counts the pronouns and discourse markers of English, and the translations are in "
                f"{corpus.target_language!r}"
            )
        if not any(text is not None for one in corpus.documents for side in one.references for text in side):
            return Unmeasured(f"{self.name} needs a reference, and there is none")
        return annotator_or_unmeasured(corpus.target_language, self.annotator)

    def _all_rows(self, corpus: Corpus, system: str, annotator: Annotator) -> FloatArray:
        def count() -> list[list[float]]:
            rows: list[list[float]] = self._all_rows_anew(corpus, system, annotator).tolist()
            return rows

        # BlonDe and dBlonDe have the same counts; what people annotated is not in the signature.
        if self.names or self.name not in (Blonde.name, DiscourseBlonde.name):
            return self._all_rows_anew(corpus, system, annotator)
        recipe = f"blonde|lowercase:{self.lowercase}|{annotator.name}"
        return np.asarray(count_once(corpus, system, recipe, count)).reshape(-1, 3 * TYPE_COUNT)

    def _all_rows_anew(self, corpus: Corpus, system: str, annotator: Annotator) -> FloatArray:
        chunks = [self._rows(chunk, corpus, system, annotator) for chunk in _chunks(corpus)]
        return np.vstack(chunks) if chunks else np.zeros((0, 3 * TYPE_COUNT))

    def _rows(self, chunk: Sequence[tuple[int, int]], corpus: Corpus, system: str, annotator: Annotator) -> FloatArray:
        outputs, references = self._annotations(chunk, corpus, system, annotator)
        counts = count_types(outputs, references, lowercase=self.lowercase)
        self._count_annotation(counts, chunk, corpus, system)
        rows = counts.rows()
        # A segment without any reference counts nothing.
        rows[[all(side[row] is _NONE for side in references) for row in range(len(chunk))]] = 0
        return rows

    def _count_annotation(
        self, counts: BlondeCounts, chunk: Sequence[tuple[int, int]], corpus: Corpus, system: str
    ) -> None:
        """Hook for counts that are not in the annotations."""

    def _annotations(
        self, chunk: Sequence[tuple[int, int]], corpus: Corpus, system: str, annotator: Annotator
    ) -> tuple[list[Annotation], list[list[Annotation]]]:
        """Annotations of the output and of each reference; `_NONE` where a reference lacks the segment."""
        documents = corpus.documents
        number = max(len(documents[place].references) for place, _ in chunk)
        sides: list[list[str | None]] = [[documents[d].outputs[system][s] for d, s in chunk]]
        for which in range(number):
            sides.append([_reference(corpus, d, s, which) for d, s in chunk])
        texts = [text for side in sides for text in side if text is not None]
        found = iter(annotator.annotate(texts))
        output, *references = [[_NONE if text is None else next(found) for text in side] for side in sides]
        if self.names:
            places = [(documents[d].id, s) for d, s in chunk]
            output, references = add_names(self.names, places, sides, output, references)
        return output, references

    def _parts(self) -> Mapping[str, Fold]:
        keys = [key for key in self.keys if key not in folds.N_GRAM_KEYS]
        parts = {key: folds.category_fold(key, self.weights) for key in keys}
        if len(keys) < len(self.keys):
            parts["n-grams"] = folds.f1_fold(folds.N_GRAM_KEYS, self.weights)
        parts["recall"] = folds.recall_fold(self.keys, self.weights)
        parts["precision"] = folds.precision_fold(self.keys, self.weights)
        return parts

    def _signature(self, corpus: Corpus, annotator: Annotator) -> str:
        most = max(len(one.references) for one in corpus.documents)
        case = "lc" if self.lowercase else "mixed"
        weights = {
            key: "/".join(f"{weight:g}" for weight in self.weights.category_weights(key))
            for key in ("pronoun", "entity")
        }
        names = "annotated" if self.names else "found"
        smooth = "exp" if set(folds.N_GRAM_KEYS) <= set(self.keys) else "none"
        settings = {"refs": most, "case": case, "smooth": smooth, **weights, "names": names}
        return metric_signature(self.name, **settings, annotator=annotator.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscourseBlonde(Blonde):
    """dBlonDe: only tenses, pronouns, names and discourse markers, without n-grams."""

    name: ClassVar[str] = "dblonde"
    keys: ClassVar[tuple[str, ...]] = folds.DISCOURSE_CATEGORIES


@dataclass(frozen=True, slots=True, kw_only=True)
class BlondePlus(Blonde):
    """BlonDe+: two more keys, from human annotation of ambiguity and ellipsis.

    For a word that is ambiguous or omitted in the source, the annotation has the reference's wording; its occurrences
    in the line are counted as whole words, ignoring case.
    """

    ambiguity: AnnotatedWordings = field(default_factory=dict)
    ellipsis: AnnotatedWordings = field(default_factory=dict)

    name: ClassVar[str] = "blonde+"
    keys: ClassVar[tuple[str, ...]] = (*Blonde.keys, *BLONDE_PLUS_CATEGORIES)

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """Count as BlonDe does; Unmeasured without annotation."""
        known = {document.id for document in corpus.documents}
        if not any(place[0] in known for given in (self.ambiguity, self.ellipsis) for place in given):
            return Unmeasured(
                "blonde+ needs the annotated wordings of ambiguity and ellipsis, and there are none: give a file with "
                "the annotation"
            )
        return Blonde.count(self, corpus, system)

    def _count_annotation(
        self, counts: BlondeCounts, chunk: Sequence[tuple[int, int]], corpus: Corpus, system: str
    ) -> None:
        for key, given in zip(BLONDE_PLUS_CATEGORIES, (self.ambiguity, self.ellipsis), strict=True):
            for row, (number, segment) in enumerate(chunk):
                document = corpus.documents[number]
                wordings = given.get((document.id, segment), ())
                if wordings:
                    references = document.references_of(segment)
                    count_wordings(counts, row, key, wordings, document.outputs[system][segment], references)


def _places(corpus: Corpus) -> list[tuple[int, int]]:
    return [(number, segment) for number, _, segment in corpus.segments()]


def _chunks(corpus: Corpus) -> Iterator[list[tuple[int, int]]]:
    places = _places(corpus)
    return (places[start : start + CHUNK] for start in range(0, len(places), CHUNK))


def _reference(corpus: Corpus, document: int, segment: int, which: int) -> str | None:
    references = corpus.documents[document].references
    return references[which][segment] if which < len(references) else None
