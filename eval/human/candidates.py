"""Where in a set a test could be made: passages with a text of every system, of a length that is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

from ape.errors import InputError
from ape.text.tokens import words
from eval.corpus.corpus import Corpus, Document
from eval.human.trial import TrialPassage

REFERENCE = "reference"
"""Names the first human translation of the set, where no system is called that."""
LengthUnit: TypeAlias = Literal["words", "characters"]
SystemPair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LengthRange:
    """How long a passage may be: its source, or where there is none the text of the first system."""

    shortest: int = 0
    longest: int | None = None
    unit: LengthUnit = "words"

    def holds(self, paragraphs: Sequence[str]) -> bool:
        """Whether the paragraphs together are of that length."""
        if not self.shortest and self.longest is None:
            return True
        text = "\n".join(paragraphs)
        length = len(words(text)) if self.unit == "words" else len(text)
        return self.shortest <= length and (self.longest is None or length <= self.longest)


@dataclass(frozen=True, slots=True)
class CandidatePassage:
    """A passage with the texts of all systems, and the pairs of systems that differ in it."""

    passage: TrialPassage
    texts: Mapping[str, tuple[str, ...]]
    pairs: tuple[SystemPair, ...]


def trial_systems(corpora: Sequence[Corpus], chosen: Sequence[str]) -> tuple[str, ...]:
    """The systems to be compared, checked: those chosen, or all that every set has."""
    known = [name for name in corpora[0].systems if all(name in corpus.systems for corpus in corpora)]
    if all(document.references for corpus in corpora for document in corpus.documents):
        known += [REFERENCE] if REFERENCE not in known else []
    names = tuple(chosen or (name for name in known if name != REFERENCE or name in corpora[0].systems))
    told = ", ".join(known)
    if unknown := next((name for name in names if name not in known), None):
        raise InputError(f"There is no system {unknown!r} in the set. It has: {told}.", field="system")
    if len(set(names)) < len(names):
        raise InputError("A system is named twice.", field="system")
    if len(names) < 2:
        raise InputError(
            f"Two systems at least are compared, and there is only {', '.join(names)}. The set has: {told}.",
            field="system",
        )
    return names


def candidate_passages(
    corpora: Sequence[Corpus],
    pairs: Sequence[SystemPair],
    *,
    paragraphs: int,
    window: LengthRange,
    counts: Counter[str],
) -> Iterator[list[CandidatePassage]]:
    """For each document, its passages of so many paragraphs, one after the other and none of them twice.

    What is left out is counted: as "missing" where a system has no text, "length" outside the window, "identical" for a
    pair of systems with the same text.
    """
    systems = sorted({name for pair in pairs for name in pair})
    for number, corpus in enumerate(corpora, 1):
        prefix = f"{number}/" if len(corpora) > 1 else ""
        for document in corpus.documents:
            every = range(0, len(document) - paragraphs + 1, paragraphs)
            found = (_place(document, start, paragraphs, systems) for start in every)
            kept = _kept(found, pairs, window, counts)
            yield [_named(place, document, corpus, prefix) for place in kept]


def _place(document: Document, start: int, count: int, systems: Sequence[str]) -> CandidatePassage:
    part = slice(start, start + count)
    span = f"{start + 1}" if count == 1 else f"{start + 1}-{start + count}"
    texts = {name: tuple(text or "" for text in _texts(document, name)[part]) for name in systems}
    return CandidatePassage(TrialPassage(f"{document.id}:{span}", count, document.sources[part]), texts, ())


def _texts(document: Document, system: str) -> tuple[str | None, ...]:
    return document.outputs[system] if system in document.outputs else document.references[0]


def _kept(
    found: Iterator[CandidatePassage], pairs: Sequence[SystemPair], window: LengthRange, counts: Counter[str]
) -> Iterator[CandidatePassage]:
    for place in found:
        if not all(text.strip() for texts in place.texts.values() for text in texts):
            counts["missing"] += 1
        elif not window.holds(place.passage.sources or place.texts[pairs[0][0]]):
            counts["length"] += 1
        else:
            differing = tuple(pair for pair in pairs if not _alike(*(place.texts[name] for name in pair)))
            counts["identical"] += len(pairs) - len(differing)
            if differing:
                yield CandidatePassage(place.passage, place.texts, differing)


def _alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether a page would show them alike."""
    return [text.split() for text in one] == [text.split() for text in other]


def _named(place: CandidatePassage, document: Document, corpus: Corpus, prefix: str) -> CandidatePassage:
    language = corpus.source_language if corpus.source_language != "und" else ""
    passage = TrialPassage(
        f"{prefix}{place.passage.id}",
        place.passage.paragraphs,
        place.passage.sources,
        document.book,
        language,
        f"{prefix}{document.id}",
    )
    return CandidatePassage(passage, place.texts, place.pairs)


def system_pairs(systems: Sequence[str], *, against: str = "") -> tuple[SystemPair, ...]:
    """Every two systems, or each with the one that all others are to be compared to."""
    if not against:
        return tuple(combinations(systems, 2))
    if against not in systems:
        raise InputError(
            f"--against {against!r} is none of the systems: {', '.join(systems)}.", field="against"
        )
    return tuple((against, name) for name in systems if name != against)
