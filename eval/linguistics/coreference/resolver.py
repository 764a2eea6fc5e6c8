"""Coreference resolution: a protocol, and a rule-based resolver.

Two names are one person if one has all the words of the other. "He" and "she" refer to the last named person not known
to be of the other gender; "it" to the last named thing, if that was in this segment or the previous one; "they" to the
last "they". The first and second person, and an "it" without an antecedent, have no referent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from eval.linguistics.annotators.protocol import Annotation, NamedEntity, Token

_PRONOUNS = {
    **dict.fromkeys("he him his himself 他".split(), "he"),
    **dict.fromkeys("she her hers herself 她".split(), "she"),
    **dict.fromkeys("it its itself 它".split(), "it"),
    **dict.fromkeys("they them their theirs themselves 他们 她们 它们".split(), "they"),
}


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of a segment that refers to an entity."""

    entity: str
    start: int
    end: int
    pronoun: bool


class CoreferenceResolver(Protocol):
    """Finds the mentions in the segments of a document and groups them by entity."""

    @property
    def name(self) -> str:
        """For signatures, with its version."""

    def resolve(self, segments: Sequence[Annotation]) -> list[tuple[Mention, ...]]:
        """The mentions of each segment, in order."""


@dataclass(frozen=True, slots=True)
class RuleCoreferenceResolver:
    """The rules above: names by the annotator, pronouns of English and Chinese."""

    name: str = "rules-1"

    def resolve(self, segments: Sequence[Annotation]) -> list[tuple[Mention, ...]]:
        """Resolve in reading order, without revising decisions."""
        cast = _MentionTracker()
        return [tuple(cast.mentions(number, segment)) for number, segment in enumerate(segments)]


@dataclass(slots=True)
class _TrackedEntity:
    entity: str
    person: bool
    words: frozenset[str] = frozenset()
    pronoun: str = ""
    seen: int = 0


@dataclass(slots=True)
class _MentionTracker:
    members: list[_TrackedEntity] = field(default_factory=list)
    """Ordered by last mention."""

    def mentions(self, number: int, segment: Annotation) -> Iterator[Mention]:
        found: list[tuple[int, NamedEntity | Token]] = [(entity.start, entity) for entity in segment.entities]
        found += [(token.start, token) for token in segment.tokens if token.text.lower() in _PRONOUNS]
        for _, one in sorted(found, key=lambda pair: pair[0]):
            named = isinstance(one, NamedEntity)
            member = self._named(one) if isinstance(one, NamedEntity) else self._antecedent(one.text.lower(), number)
            if member is not None:
                member.seen = number
                self.members.remove(member)
                self.members.append(member)
                yield Mention(member.entity, one.start, one.end, not named)

    def _named(self, entity: NamedEntity) -> _TrackedEntity:
        person, words = entity.label == "PERSON", frozenset(entity.text.lower().split())
        for member in reversed(self.members):
            if member.words and member.person == person and (member.words <= words or words <= member.words):
                member.words |= words
                return member
        return self._new(entity.text, person=person, words=words)

    def _antecedent(self, word: str, number: int) -> _TrackedEntity | None:
        pronoun = _PRONOUNS[word]
        for member in reversed(self.members):
            if pronoun in ("he", "she") and member.person and member.pronoun in ("", pronoun):
                member.pronoun = pronoun
                return member
            if pronoun == "it" and not member.person and member.pronoun != "they" and member.seen >= number - 1:
                return member
            if pronoun == "they" and member.pronoun == "they":
                return member
        if pronoun == "it":
            return None
        return self._new(pronoun, person=pronoun != "they", pronoun=pronoun)

    def _new(
        self, text: str, *, person: bool, words: frozenset[str] = frozenset(), pronoun: str = ""
    ) -> _TrackedEntity:
        self.members.append(_TrackedEntity(f"{len(self.members) + 1}:{text}", person, words, pronoun))
        return self.members[-1]
