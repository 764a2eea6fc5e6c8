"""Pronouns: for each pronoun of the reference, whether the output has an equivalent in its place.

The texts are aligned by their common words. A pronoun of the reference is kept if the output has one of its class (he,
his, him are one class, as the case follows the wording); wrong if the output has one of another class that can not
stand for it; lost if it has none, where a name may replace it. Some classes are interchangeable: "it" and "that", "you"
and "one".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from rapidfuzz.distance import LCSseq

from eval.corpus.corpus import Corpus
from eval.linguistics.annotators.protocol import Annotation, Annotator
from eval.metrics.dip.annotated_sides import (
    AnnotatedSides,
    annotate_sides,
    class_share_fold,
    dip_annotator_or_unmeasured,
    row_documents,
)
from eval.metrics.metric import Mark, metric_signature
from eval.statistics.counts import Fold, MetricCounts, Unmeasured

LANGUAGES = ("en",)
_FORMS = {
    "masculine": "he his him himself",
    "feminine": "she her hers herself",
    "neuter": "it its itself",
    "they": "they their theirs them themselves themself",
    "I": "i me my mine myself",
    "we": "we us our ours ourselves",
    "you": "you your yours yourself yourselves",
    "demonstrative": "this that these those",
    "one": "one oneself",
}
PRONOUN_CLASSES = tuple(_FORMS)[:7]
"""The classes that are scored; others can only match."""
_CLASS = {word: label for label, words in _FORMS.items() for word in words.split()}
INTERCHANGEABLE = frozenset(
    frozenset((one, other))
    for one, others in (
        ("demonstrative", ("neuter", "they", "masculine", "feminine")),  # "that is hers", "this is my sister"
        ("one", ("you",)),
    )
    for other in others
)
PronounOutcome: TypeAlias = Literal["kept", "interchangeable", "wrong", "lost"]
_LONG_GAP = 12
PRONOUN_OUTCOMES: tuple[PronounOutcome, ...] = ("kept", "interchangeable", "wrong", "lost")


@dataclass(frozen=True, slots=True)
class PronounToken:
    """A pronoun in a text, with its class."""

    text: str
    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PronounComparison:
    """A pronoun of the reference and its counterpart."""

    reference_pronoun: PronounToken
    output_pronoun: PronounToken | None

    @property
    def outcome(self) -> PronounOutcome:
        """Whether it is kept, interchangeable, wrong or lost."""
        if self.output_pronoun is None:
            return "lost"
        kinds = {self.output_pronoun.kind, self.reference_pronoun.kind}
        if len(kinds) == 1:
            return "kept"
        return "interchangeable" if kinds in INTERCHANGEABLE else "wrong"


def find_pronouns(annotation: Annotation) -> dict[int, PronounToken]:
    """Pronouns by token index, including classes that can only match."""
    found = {}
    for at, token in enumerate(annotation.tokens):
        word = token.text.replace("’", "'").split("'")[0]
        kind = _CLASS.get(word.lower())
        if kind and not _is_other_word(annotation, at, word, kind):
            found[at] = PronounToken(word, kind, token.start, token.start + len(word))
    return found


def compare_pronouns(reference: Annotation, output: Annotation) -> list[PronounComparison]:
    """Every pronoun of the reference with its counterpart, in order.

    Common words anchor the texts. Between anchors, pronouns of the same class are paired first, then others in order.
    Remaining ones are paired with a remaining one of the same class anywhere, as word order is free.
    """
    ours, theirs = find_pronouns(reference), find_pronouns(output)
    ours_aligned, theirs_aligned = _symbols(reference, ours, "ours"), _symbols(output, theirs, "theirs")
    found: dict[int, int] = {}
    start, begin = 0, 0
    for block in LCSseq.editops(ours_aligned, theirs_aligned).as_matching_blocks():
        found |= _pair_gaps(ours, range(start, block.a), theirs, range(begin, block.b))
        start, begin = block.a + block.size, block.b + block.size
    unpaired = [at for at in theirs if at not in found.values()]
    for at in [at for at in ours if at not in found]:
        same = next((other for other in unpaired if theirs[other].kind == ours[at].kind), None)
        if same is not None:
            unpaired.remove(same)
            found[at] = same
    scored = ((at, one) for at, one in ours.items() if one.kind in PRONOUN_CLASSES)
    return [PronounComparison(one, theirs[found[at]] if at in found else None) for at, one in scored]


@dataclass(frozen=True, slots=True)
class DipPronouns:
    """Per cent of the reference's pronouns that are kept or interchangeable, with classes as parts."""

    annotator: Annotator | None = None
    name: str = "dip-pronouns"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """For each class four columns: kept, interchangeable, wrong, lost."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return annotator
        documents = row_documents(corpus)
        rows = np.zeros((len(documents), len(PRONOUN_CLASSES) * len(PRONOUN_OUTCOMES)))
        for side, segment, one in compare_system_pronouns(corpus, system, annotator):
            column = PRONOUN_CLASSES.index(one.reference_pronoun.kind) * len(PRONOUN_OUTCOMES) + PRONOUN_OUTCOMES.index(
                one.outcome
            )
            rows[side.first_row + segment, column] += 1
        right, wrong, lost = (0, 1), (2,), (3,)
        parts = {"mismatch": _share(wrong), "lost": _share(lost), "of paired": _share(right, below=(0, 1, 2))}
        parts |= {label: _share(right, kind=kind) for kind, label in enumerate(PRONOUN_CLASSES)}
        signature = metric_signature(self.name, case="any", refs="each", annotator=annotator.name)
        return MetricCounts(rows, documents, _share(right), signature, parts=parts)

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """Wrong pronouns on both sides, and lost ones in the reference."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return
        for side, segment, one in compare_system_pronouns(corpus, system, annotator):
            reference, output = one.reference_pronoun, one.output_pronoun
            if output is None:
                yield Mark(side.id, segment, "reference", reference.start, reference.end, "lost", reference.text)
            elif one.outcome == "wrong":
                note = f"{reference.text} → {output.text}"
                yield Mark(side.id, segment, "reference", reference.start, reference.end, "wrong", note)
                yield Mark(side.id, segment, "output", output.start, output.end, "wrong", note)

    def _annotator(self, corpus: Corpus) -> Annotator | Unmeasured:
        return dip_annotator_or_unmeasured(corpus, LANGUAGES, what="The pronoun metric", annotator=self.annotator)


def compare_system_pronouns(
    corpus: Corpus, system: str, annotator: Annotator
) -> Iterator[tuple[AnnotatedSides, int, PronounComparison]]:
    """Every pronoun of every reference with its counterpart."""
    for side in annotate_sides(corpus, system, annotator):
        for segment, reference, output in side.paired_annotations():
            for one in compare_pronouns(reference, output):
                yield side, segment, one


def _is_other_word(annotation: Annotation, at: int, word: str, kind: str) -> bool:
    """Whether it is another word: the US, an IT firm, a mine; "that man", "one day", "said that"."""
    tag = annotation.tokens[at].tag
    if len(word) > 1 and word.isupper():
        return True
    if word.lower() == "mine":
        return tag.startswith(("NN", "VB"))
    if kind not in {"demonstrative", "one"}:
        return False
    after = annotation.tokens[at + 1].tag if at + 1 < len(annotation.tokens) else ""
    return after[:2] in {"NN", "JJ", "CD"} or (kind == "demonstrative" and tag not in {"DT", "PRP"})


def _symbols(annotation: Annotation, found: Mapping[int, PronounToken], side: str) -> list[str | tuple[str, int]]:
    """The alignment symbols: lemmas, with a unique symbol for each pronoun."""
    tokens = enumerate(annotation.tokens)
    return [(side, at) if at in found else token.lemma.lower() for at, token in tokens]


def _pair_gaps(
    ours: Mapping[int, PronounToken], gap: range, theirs: Mapping[int, PronounToken], opposite: range
) -> dict[int, int]:
    """Pair the pronouns of two gaps; in long gaps only those of the same class."""
    reference_places = [at for at in gap if at in ours]
    output_places = [at for at in opposite if at in theirs]
    if not (reference_places and output_places):
        return {}
    kinds = LCSseq.editops([ours[at].kind for at in reference_places], [theirs[at].kind for at in output_places])
    found = {
        reference_places[block.a + place]: output_places[block.b + place]
        for block in kinds.as_matching_blocks()
        for place in range(block.size)
    }
    if len(gap) > _LONG_GAP or len(opposite) > _LONG_GAP:
        return found
    reference_places = [at for at in reference_places if at not in found]
    output_places = [at for at in output_places if at not in found.values()]
    few = min(len(reference_places), len(output_places))
    return found | dict(zip(reference_places[:few], output_places[:few], strict=True))


def _share(outcomes: Sequence[int], *, kind: int | None = None, below: Sequence[int] = range(4)) -> Fold:
    """Per cent of the pronouns with the outcomes `below` that have these outcomes."""
    classes = range(len(PRONOUN_CLASSES)) if kind is None else (kind,)
    return class_share_fold(classes, len(PRONOUN_OUTCOMES), outcomes, below)
