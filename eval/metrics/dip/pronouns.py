"""Pronouns: for each pronoun of the reference, whether the output has an equivalent in its place.

The texts are aligned by their common words. A pronoun of the reference is kept if the output has one of its class (he,
his, him are one class, as the case follows the wording); wrong if the output has one of another class that can not
stand for it; lost if it has none, where a name may replace it. Some classes are interchangeable: "it" and "that", "you"
and "one".

This is a match with the reference, and no verdict on a translation: most differences are other wordings. A pronoun is
called an error only if it changes he to she or she to he, subject for subject, and no other pronoun of these genders in
the segment is without its match. A Chinese document that never says the reference's gender (他, 她) decides nothing: it
may be a guess of its translator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias

from rapidfuzz.distance import LCSseq

from ape.text.languages import language_code
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators.protocol import Annotation, Annotator
from eval.metrics.dip.annotated_sides import AnnotatedSides, DipMetric, annotate_sides, class_share_fold
from eval.metrics.metric import Mark
from eval.statistics.counts import FloatArray, Fold

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
_OPPOSITE = frozenset({"masculine", "feminine"})
_SUBJECTS = ("he", "she")
_CHINESE = {"masculine": re.compile("他(?!们)"), "feminine": re.compile("她(?!们)")}
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
    is_error: bool = False
    """Whether it is certainly another person: he for she, with no other candidate for either."""

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
    pairs = {(at, found[at]) for at in ours if at in found}
    equal = {pair for pair in pairs if ours[pair[0]].kind == theirs[pair[1]].kind}
    compared = []
    for at, one in ours.items():
        if one.kind in PRONOUN_CLASSES:
            other = theirs[found[at]] if at in found else None
            is_error = other is not None and _is_error(
                one,
                other,
                [theirs[place] for place in theirs if place not in {pair[1] for pair in equal} | {found[at]}],
                [ours[place] for place in ours if place not in {pair[0] for pair in equal} | {at}],
            )
            compared.append(PronounComparison(one, other, is_error))
    return compared


def _is_error(
    reference: PronounToken, output: PronounToken, outputs: Sequence[PronounToken], references: Sequence[PronounToken]
) -> bool:
    """Whether he became she in the same grammatical place, and no other unmatched pronoun may be the counterpart."""
    if {reference.kind, output.kind} != _OPPOSITE or (reference.text.lower() in _SUBJECTS) != (
        output.text.lower() in _SUBJECTS
    ):
        return False
    return not any(one.kind == reference.kind for one in outputs) and not any(
        one.kind == output.kind for one in references
    )


@dataclass(frozen=True, slots=True)
class DipPronouns(DipMetric):
    """Per cent of the reference's pronouns that are kept or interchangeable, with classes as parts."""

    name: str = "dip-pronouns"
    caveat: ClassVar[str] = (
        "a match with the reference, which its paper rejects as an evaluation, as many other pronouns are right too; "
        "dip-pronoun-scorer is the paper's own."
    )
    subject: ClassVar[str] = "The pronoun metric"
    columns: ClassVar[int] = len(PRONOUN_CLASSES) * len(PRONOUN_OUTCOMES)
    settings: ClassVar[dict[str, Any]] = {"case": "any"}

    def _add_counts(self, rows: FloatArray, corpus: Corpus, system: str, annotator: Annotator) -> None:
        """For each class four columns: kept, interchangeable, wrong, lost."""
        for side, segment, one in compare_system_pronouns(corpus, system, annotator):
            column = PRONOUN_CLASSES.index(one.reference_pronoun.kind) * len(PRONOUN_OUTCOMES)
            rows[side.first_row + segment, column + PRONOUN_OUTCOMES.index(one.outcome)] += 1

    def _folds(self) -> tuple[Fold, dict[str, Fold]]:
        right, wrong, lost = (0, 1), (2,), (3,)
        parts = {"mismatch": _share(wrong), "lost": _share(lost), "of paired": _share(right, below=(0, 1, 2))}
        parts |= {label: _share(right, kind=kind) for kind, label in enumerate(PRONOUN_CLASSES)}
        return _share(right), parts

    def _marks(self, corpus: Corpus, system: str, annotator: Annotator) -> Iterator[Mark]:
        """Pronouns of another class on both sides, errors called wrong, and lost ones in the reference."""
        for side, segment, one in compare_system_pronouns(corpus, system, annotator):
            reference, output = one.reference_pronoun, one.output_pronoun
            if output is None:
                yield Mark(side.id, segment, "reference", reference.start, reference.end, "lost", reference.text)
            elif one.outcome == "wrong":
                note = f"{reference.text} → {output.text}"
                kind = "wrong" if one.is_error else "changed"
                yield Mark(side.id, segment, "reference", reference.start, reference.end, kind, note)
                yield Mark(side.id, segment, "output", output.start, output.end, kind, note)


def compare_system_pronouns(
    corpus: Corpus, system: str, annotator: Annotator
) -> Iterator[tuple[AnnotatedSides, int, PronounComparison]]:
    """Every pronoun of every reference with its counterpart."""
    is_chinese = language_code(corpus.source_language) == "zh"
    for side in annotate_sides(corpus, system, annotator):
        known = _genders(side.sources) if is_chinese and side.sources else _OPPOSITE
        for segment, reference, output in side.paired_annotations():
            here = _genders(side.sources[segment : segment + 1]) if is_chinese else frozenset()
            for one in compare_pronouns(reference, output):
                yield side, segment, _judged(one, known, here)


def _judged(one: PronounComparison, known: Set[str], here: Set[str]) -> PronounComparison:
    """No error where a Chinese document never says the reference's gender, or the line has that of the output.

    The pronoun of the output may be the translation of that one.
    """
    if one.is_error and one.output_pronoun is not None:
        return replace(one, is_error=one.reference_pronoun.kind in known and one.output_pronoun.kind not in here)
    return one


def _genders(sources: Sequence[str]) -> frozenset[str]:
    """The genders of the Chinese pronouns of these lines."""
    return frozenset(kind for kind, said in _CHINESE.items() if any(map(said.search, sources)))


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
