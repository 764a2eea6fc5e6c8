"""Cohesion features of a passage, the input of the coherence scorer.

An entity grid without a parser (the words before the first finite verb count as the subject), repeated words,
connectives, pronouns with antecedents, and tense. Punctuation and sentence length are not features: they identify the
translator rather than coherence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import fmean

import numpy as np

from eval.linguistics.annotators.protocol import Annotation
from eval.metrics.dip.clauses import FINITE_VERB_TAGS, NOUN_TAGS
from eval.metrics.dip.connective_rules import CONNECTIVE_CLASSES
from eval.metrics.dip.connectives import find_connectives
from eval.metrics.dip.pronouns import find_pronouns
from eval.statistics.counts import FloatArray

_ROLES = "s", "o", "-"
_TRANSITIONS = tuple(f"{one}{other}" for one in _ROLES for other in _ROLES)
_THIRD = ("masculine", "feminine", "neuter", "they")
_RECENT = 3
COHESION_FEATURES = (
    *(f"transition {one}" for one in _TRANSITIONS),
    "overlap with the next",
    "overlap with the next but one",
    "overlap of neighbours over that of all",
    "nouns said lately",
    "nouns said before",
    "nouns for each different one",
    "the with a noun said before",
    *(f"connectives of {label}" for label in CONNECTIVE_CLASSES),
    "opens with a connective",
    *(f"pronouns, {kind}" for kind in _THIRD),
    "pronouns that go on",
    "pronouns with nobody before",
    "changes of gender",
    "same tense as the next",
)


@dataclass(frozen=True, slots=True)
class CohesionSentence:
    """The features of a sentence, computed once since passages are shuffled often."""

    nouns: tuple[str, ...]
    subjects: frozenset[str]
    content: frozenset[str]
    definite: tuple[str, ...]
    connectives: tuple[int, ...]
    opens: bool
    pronouns: tuple[str, ...]
    tense: str
    words: int


def cohesion_sentences(annotations: Sequence[Annotation]) -> list[CohesionSentence]:
    """All sentences of a text, in order."""
    return [_sentence(one) for annotation in annotations for one in _cut(annotation)]


def cohesion_features(passage: Sequence[CohesionSentence]) -> FloatArray:
    """The values of COHESION_FEATURES; each is a share or a mean, so length gives no advantage."""
    if not passage:
        return np.zeros(len(COHESION_FEATURES))
    return np.array(
        [
            *_transitions(passage),
            *_overlaps(passage),
            *_repetition(passage),
            *_linking(passage),
            *_reference(passage),
            _mean(float(one.tense == other.tense) for one, other in pairwise(passage)),
        ]
    )


def _cut(annotation: Annotation) -> Iterator[Annotation]:
    for start, end in pairwise((*annotation.sentences, len(annotation.tokens))):
        if start < end:
            yield Annotation(annotation.tokens[start:end])


def _sentence(one: Annotation) -> CohesionSentence:
    tokens = one.tokens
    verb = next((at for at, token in enumerate(tokens) if token.tag in FINITE_VERB_TAGS), len(tokens))
    nouns = [(at, token.lemma.lower()) for at, token in enumerate(tokens) if token.tag in NOUN_TAGS]
    content = {token.lemma.lower() for token in tokens if token.tag[:2] in {"NN", "VB", "JJ"}}
    uses = find_connectives(one)
    past = sum(token.tag == "VBD" for token in tokens)
    present = sum(token.tag in {"VBZ", "VBP"} for token in tokens)
    return CohesionSentence(
        nouns=tuple(lemma for _, lemma in nouns),
        subjects=frozenset(lemma for at, lemma in nouns if at < verb),
        content=frozenset(content) - {"be", "have", "do"},
        definite=tuple(lemma for at, lemma in nouns if at and tokens[at - 1].text.lower() == "the"),
        connectives=tuple(use.kind for use in uses),
        opens=bool(uses) and uses[0].start <= tokens[0].end,
        pronouns=tuple(found.kind for found in find_pronouns(one).values() if found.kind in _THIRD),
        tense="past" if past > present else "present" if present else "",
        words=sum(token.text.isalnum() for token in tokens),
    )


def _transitions(passage: Sequence[CohesionSentence]) -> Iterator[float]:
    """For nouns that occur twice or more, how often each role is followed by each role in the next sentence."""
    spread = Counter(lemma for one in passage for lemma in set(one.nouns))
    counts: Counter[str] = Counter()
    for lemma in (lemma for lemma, times in spread.items() if times > 1):
        roles = ["s" if lemma in one.subjects else "o" if lemma in one.nouns else "-" for one in passage]
        counts.update(one + other for one, other in pairwise(roles))
    return (counts[name] / max(counts.total(), 1) for name in _TRANSITIONS)


def _overlaps(passage: Sequence[CohesionSentence]) -> Iterator[float]:
    near = _mean(_overlap(one, other) for one, other in pairwise(passage))
    yield near
    yield _mean(_overlap(passage[at], passage[at + 2]) for at in range(len(passage) - 2))
    yield near - _mean(_overlap(one, other) for one, other in combinations(passage, 2))


def _overlap(one: CohesionSentence, other: CohesionSentence) -> float:
    both = len(one.content) + len(other.content)
    return 2 * len(one.content & other.content) / both if both else 0.0


def _repetition(passage: Sequence[CohesionSentence]) -> Iterator[float]:
    lately: list[bool] = []
    before: list[bool] = []
    definite: list[bool] = []
    for at, one in enumerate(passage):
        recent = {lemma for other in passage[max(0, at - _RECENT) : at] for lemma in other.nouns}
        earlier = {lemma for other in passage[:at] for lemma in other.nouns}
        lately += [lemma in recent for lemma in one.nouns]
        before += [lemma in earlier for lemma in one.nouns]
        definite += [lemma in earlier for lemma in one.definite]
    yield _mean(lately)
    yield _mean(before)
    yield len(before) / max(len({lemma for one in passage for lemma in one.nouns}), 1)
    yield _mean(definite)


def _linking(passage: Sequence[CohesionSentence]) -> Iterator[float]:
    counts = Counter(kind for one in passage for kind in one.connectives)
    words = max(sum(one.words for one in passage), 1)
    yield from (counts[kind] / words for kind in range(len(CONNECTIVE_CLASSES)))
    yield float(passage[0].opens)


def _reference(passage: Sequence[CohesionSentence]) -> Iterator[float]:
    """Pronouns per word; shares with one of their class, a noun, or nothing in the previous sentence."""
    counts = Counter(kind for one in passage for kind in one.pronouns)
    words = max(sum(one.words for one in passage), 1)
    yield from (counts[kind] / words for kind in _THIRD)
    continued = [kind in before.pronouns for before, one in pairwise(passage) for kind in dict.fromkeys(one.pronouns)]
    yield _mean(continued)
    first = passage[0]
    yield float(bool(first.pronouns) and not first.subjects)
    gendered = [kind for one in passage for kind in one.pronouns if kind in _THIRD[:2]]
    yield _mean(float(one != other) for one, other in pairwise(gendered))


def _mean(values: Iterator[float] | Sequence[float]) -> float:
    """The mean; 0 for no values."""
    listed = list(values)
    return fmean(listed) if listed else 0.0
