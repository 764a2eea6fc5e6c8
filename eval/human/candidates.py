"""Candidate passages of a trial: those with a text of every system and a length in range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

from ape.errors import InputError
from ape.text.tokens import words
from eval.corpus.corpus import Corpus, Document
from eval.human.trial import TrialPassage

REFERENCE = "reference"
"""Name of the first human translation of the set, unless a system has that name."""
LengthUnit: TypeAlias = Literal["words", "characters"]
SystemPair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LengthRange:
    """Allowed length of a passage's source, or of the first system's text without a source."""

    shortest: int = 0
    longest: int | None = None
    unit: LengthUnit = "words"

    def contains(self, paragraphs: Sequence[str]) -> bool:
        """Whether the total length of the paragraphs is in range."""
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
    """Check and return the systems to compare: the chosen ones, or all that every set has."""
    known = [name for name in corpora[0].systems if all(name in corpus.systems for corpus in corpora)]
    if all(document.references for corpus in corpora for document in corpus.documents):
        known += [REFERENCE] if REFERENCE not in known else []
    names = tuple(chosen or (name for name in known if name != REFERENCE or name in corpora[0].systems))
    available = ", ".join(known)
    if unknown := next((name for name in names if name not in known), None):
        raise InputError(f"There is no system {unknown!r} in the set. It has: {available}.", field="system")
    if len(set(names)) < len(names):
        raise InputError("A system is named twice.", field="system")
    if len(names) < 2:
        raise InputError(
            f"At least two systems are needed, not only {', '.join(names)}. The set has: {available}.", field="system"
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
    """Yield the consecutive, disjoint passages of each document.

    Passages left out are counted: "missing" where a system has no text, "length" out of range, "identical" for a pair
    of systems with the same text.
    """
    systems = sorted({name for pair in pairs for name in pair})
    for number, corpus in enumerate(corpora, 1):
        prefix = f"{number}/" if len(corpora) > 1 else ""
        for document in corpus.documents:
            starts = range(0, len(document) - paragraphs + 1, paragraphs)
            passages = (_candidate(document, start, paragraphs, systems) for start in starts)
            usable = _usable(passages, pairs, window, counts)
            yield [_with_origin(candidate, document, corpus, prefix) for candidate in usable]


def _candidate(document: Document, start: int, count: int, systems: Sequence[str]) -> CandidatePassage:
    part = slice(start, start + count)
    span = f"{start + 1}" if count == 1 else f"{start + 1}-{start + count}"
    texts = {name: tuple(text or "" for text in _texts(document, name)[part]) for name in systems}
    return CandidatePassage(TrialPassage(f"{document.id}:{span}", count, document.sources[part]), texts, ())


def _texts(document: Document, system: str) -> tuple[str | None, ...]:
    return document.outputs[system] if system in document.outputs else document.references[0]


def _usable(
    candidates: Iterator[CandidatePassage], pairs: Sequence[SystemPair], window: LengthRange, counts: Counter[str]
) -> Iterator[CandidatePassage]:
    for candidate in candidates:
        if not all(text.strip() for texts in candidate.texts.values() for text in texts):
            counts["missing"] += 1
        elif not window.contains(candidate.passage.sources or candidate.texts[pairs[0][0]]):
            counts["length"] += 1
        else:
            differing = tuple(pair for pair in pairs if not _looks_equal(*(candidate.texts[name] for name in pair)))
            counts["identical"] += len(pairs) - len(differing)
            if differing:
                yield replace(candidate, pairs=differing)


def _looks_equal(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether the texts differ in whitespace at most."""
    return [text.split() for text in first] == [text.split() for text in second]


def _with_origin(candidate: CandidatePassage, document: Document, corpus: Corpus, prefix: str) -> CandidatePassage:
    language = corpus.source_language if corpus.source_language != "und" else ""
    passage = replace(
        candidate.passage,
        id=f"{prefix}{candidate.passage.id}",
        book=document.book,
        language=language,
        document=f"{prefix}{document.id}",
    )
    return replace(candidate, passage=passage)


def system_pairs(systems: Sequence[str], *, against: str = "") -> tuple[SystemPair, ...]:
    """All pairs of systems, or each system paired with `against`."""
    if not against:
        return tuple(combinations(systems, 2))
    if against not in systems:
        raise InputError(
            f"The system to compare against, {against!r}, is not among: {', '.join(systems)}.", field="against"
        )
    return tuple((against, name) for name in systems if name != against)
