"""The entries of a ledger: who or what is named in a book, how it is rendered, and what is known of its gender.

A ledger is a list of entities, not of strings: each has its source forms, one canonical rendering, the variants that
the translation uses instead, and the evidence for its gender. People confirm, lock or ignore entries; what they say
is never overwritten.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ape.files.hashing import hash_json


class EntityKind(StrEnum):
    """What an entity is."""

    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    THING = "thing"
    TERM = "term"
    TITLE = "title"


class Gender(StrEnum):
    """The grammatical gender of the English pronouns that refer to an entity."""

    FEMALE = "female"
    MALE = "male"
    NEUTER = "neuter"
    UNKNOWN = "unknown"


class EntityStatus(StrEnum):
    """How far a person has vouched for an entry. Repairs are made for all but ignored entries."""

    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    LOCKED = "locked"
    IGNORED = "ignored"


class FormRole(StrEnum):
    """Which part of a name a source form is."""

    FULL = "full"
    FAMILY = "family"
    GIVEN = "given"
    NICKNAME = "nickname"
    TITLED = "titled"


@dataclass(frozen=True, slots=True)
class SourceForm:
    """A wording of the source for an entity."""

    text: str
    role: FormRole = FormRole.FULL


@dataclass(frozen=True, slots=True)
class Variant:
    """A wording of the translation for an entity, and how often it was seen.

    A wording that is not firm may belong to something else: it is reported, never replaced.
    """

    text: str
    count: int
    firm: bool = True


@dataclass(frozen=True, slots=True)
class GenderEvidence:
    """One observation about an entity's gender: what was seen, where, and how much it weighs."""

    gender: Gender
    cue: str
    paragraph: str
    weight: float


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, place, organisation, thing, term or title of a book."""

    id: str
    kind: EntityKind
    source_forms: tuple[SourceForm, ...]
    # The canonical rendering, e.g. "Yan Rusheng"; empty if no rendering is reliable enough to repair towards.
    target: str
    # Other renderings that are right: "Rusheng", "Mr. Yan".
    short_forms: tuple[str, ...] = ()
    # Every rendering that was seen, the right ones too, most frequent first.
    variants: tuple[Variant, ...] = ()
    gender: Gender = Gender.UNKNOWN
    evidence: tuple[GenderEvidence, ...] = ()
    # Ids of other entities that are the same person under another name.
    aliases: tuple[str, ...] = ()
    # Paragraphs of the source that name it, and the ids of the first and last of them.
    count: int = 0
    first: str = ""
    last: str = ""
    status: EntityStatus = EntityStatus.PROPOSED
    note: str = ""

    @property
    def vouched(self) -> bool:
        """Whether a person confirmed or locked the entry."""
        return self.status in (EntityStatus.CONFIRMED, EntityStatus.LOCKED)

    def fingerprint(self) -> str:
        """A hash of all that decides repairs and prompts; counts, evidence and notes are left out."""
        forms = [[form.text, form.role] for form in self.source_forms]
        variants = sorted((variant.text, variant.firm) for variant in self.variants)
        decisive = [self.kind, forms, self.target, list(self.short_forms), variants, self.gender, self.status]
        return hash_json(decisive)


@dataclass(frozen=True, slots=True)
class LedgerConflict:
    """Two statements about one entity that can't both be right, kept for a person to decide."""

    entity: str
    field: str
    values: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """The entities of one book."""

    source_language: str
    target_language: str
    entities: tuple[Entity, ...] = ()
    conflicts: tuple[LedgerConflict, ...] = ()
    # What could not be done and why, in sentences: a missing library, a language without rules, swapped texts.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerParagraph:
    """A paired paragraph as the ledger reads it. An id names its place in the book."""

    id: str
    source: str
    mt: str
