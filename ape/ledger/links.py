"""A ledger prepared for many paragraphs: which entities a source names, and which wordings belong to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ape.ledger.entity import Entity, EntityStatus, Ledger
from ape.ledger.form_finder import FormFinder
from ape.ledger.target_names import ADDRESS
from ape.text.inline_marks import strip_marks
from ape.text.languages import language_code
from ape.text.romanisation import letter_similarity, plain_letters


@dataclass(frozen=True, slots=True)
class Wordings:
    """The wordings of one entity: right ones, wrong ones with what replaces them, and doubtful ones."""

    right: frozenset[str]
    wrong: dict[str, str]
    doubtful: frozenset[str]


class LedgerIndex:
    """A ledger with its forms and wordings indexed; entries that a person ignores are left out."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.entities = {one.id: one for one in ledger.entities if one.status is not EntityStatus.IGNORED}
        self._owners: dict[str, str | None] = {}
        for entity in self.entities.values():
            for form in entity.source_forms:
                # A form of two entities names neither: two characters of one name.
                taken = form.text in self._owners and self._owners[form.text] != entity.id
                self._owners[form.text] = None if taken else entity.id
        self._finder = FormFinder(self._owners, language_code(ledger.source_language))

    @cached_property
    def wordings(self) -> dict[str, Wordings]:
        """The wordings by entity."""
        return {key: _wordings(entity) for key, entity in self.entities.items()}

    def entities_in(self, source: str) -> tuple[Entity, ...]:
        """The entities that a source text names, in order of first mention."""
        return tuple(self.entities[key] for key in self.counts_in(source))

    def counts_in(self, source: str) -> Counter[str]:
        """How often a source text names each entity, by id."""
        found = (self._owners[form] for _, form in self._finder.find(strip_marks(source)))
        return Counter(key for key in found if key is not None)

    def places_in(self, source: str) -> Iterator[tuple[int, int, str]]:
        """Where a text without marks names entities: start, end and id, in order."""
        for start, form in self._finder.find(source):
            if (key := self._owners[form]) is not None:
                yield start, start + len(form), key


def _wordings(entity: Entity) -> Wordings:
    right = frozenset(filter(None, (entity.target, *entity.short_forms)))
    if not entity.target:
        return Wordings(right, {}, frozenset())
    others = [variant for variant in entity.variants if variant.text and variant.text not in right]
    firm = {one.text: nearest_wording(one.text, entity) for one in others if one.firm}
    parts = frozenset(text for text, nearest in firm.items() if text == nearest)
    wrong = {text: nearest for text, nearest in firm.items() if text not in parts}
    return Wordings(right | parts, wrong, frozenset(one.text for one in others if not one.firm))


def nearest_wording(variant: str, entity: Entity) -> str:
    """The right wording that a variant stands for: "Yan Qiu" for "Yanqiu", not "Shen Yan Qiu"."""
    letters = plain_letters(variant)
    words = entity.target.split()
    parts = (" ".join(words[first:last]) for first in range(len(words)) for last in range(first + 1, len(words) + 1))
    if part := next((text for text in parts if plain_letters(text) == letters), ""):
        return part
    # "White Weiwei" says more than "Weiwei".
    named = [word for word in variant.split() if word.lower() not in ADDRESS]
    short = (text for text in entity.short_forms if len(named) <= text.count(" ") + 1 or not _holds(named, text))
    return max((entity.target, *short), key=lambda right: letter_similarity(letters, plain_letters(right)))


def _holds(words: Sequence[str], text: str) -> bool:
    """Whether a part of the words has just the letters of the text: "Wei Wei" those of "Weiwei"."""
    parts = (words[first:last] for first in range(len(words)) for last in range(first + 1, len(words) + 1))
    return any(plain_letters("".join(part)) == plain_letters(text) for part in parts)
