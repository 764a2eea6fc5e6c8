"""The demo's sample chapters: short fiction written for this project, with a faulty MT and its repair.

A chapter is one JSON file: its titles, languages, glossary and people as a translator confirmed them, and for each
paragraph the source, the MT and `good`, a minimal post-edit by a translator. The MT has the errors that are typical of
machine-translated books:

- one character under several names: Shen Yanqiu, Yan Qiu, Shen Yan Autumn; Mathilde, Matilda, Mathilda;
- flipped pronouns, mostly where the source has none (Chinese) or hides the gender (French "son", "lui");
- dropped subjects ("Has not been back for eleven years");
- tenses that change between present and past;
- idioms translated literally ("raining ropes", "seven up and eight down", "fall in the apples");
- the wrong sense of a word ("red chapters" for a red seal, "ankles" for pegs, "granted" for tuned);
- the wrong connective ("Gold," for "Yet", "so" for "but", "also" for "so");
- word order and articles of the source ("the house of the colonel stands all on top").

In two paragraphs of each chapter the MT is right and equals `good`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

from ape.errors import InputError
from ape.ledger.build import build_ledger, entity_id
from ape.ledger.entity import Entity, EntityKind, EntityStatus, FormRole, Gender, Ledger, LedgerParagraph, SourceForm
from ape.passage.segment import Segment

__all__ = ["SAMPLES", "Sample", "SampleParagraph", "load_sample"]

SAMPLES = ("fr-en", "zh-en")


@dataclass(frozen=True, slots=True)
class SampleParagraph:
    """A paragraph with its MT and `good`, the post-edit of a translator."""

    id: str
    source: str
    mt: str
    good: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One chapter and its glossary."""

    name: str
    title: str
    source_title: str
    source_language: str
    target_language: str
    glossary: tuple[tuple[str, str], ...]
    people: tuple[Entity, ...]
    paragraphs: tuple[SampleParagraph, ...]

    def ledger(self) -> Ledger:
        """The names of the chapter, with its people as confirmed entries."""
        paragraphs = [LedgerParagraph(one.id, one.source, one.mt) for one in self.paragraphs]
        known = Ledger(self.source_language, self.target_language, self.people)
        return build_ledger(
            paragraphs, source_language=self.source_language, target_language=self.target_language, known=known
        )

    def segments(self) -> Iterator[Segment]:
        """The paragraphs as passages, in order, without `good`, which no model may see."""
        for paragraph in self.paragraphs:
            yield Segment(
                source=paragraph.source,
                mt=paragraph.mt,
                source_language=self.source_language,
                target_language=self.target_language,
                glossary=self.glossary,
            )


def load_sample(name: str) -> Sample:
    """Load the sample chapter with this name, one of `SAMPLES`."""
    if name not in SAMPLES:
        raise InputError(f"Unknown sample {name!r}; choose from {', '.join(SAMPLES)}.", field="sample")
    chapter = json.loads(resources.files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return Sample(
        name=name,
        title=chapter["title"],
        source_title=chapter["source_title"],
        source_language=chapter["source_language"],
        target_language=chapter["target_language"],
        glossary=tuple(chapter["glossary"].items()),
        people=tuple(_person(**person) for person in chapter["people"]),
        paragraphs=tuple(SampleParagraph(**paragraph) for paragraph in chapter["paragraphs"]),
    )


def _person(source: list[str], target: list[str], gender: str) -> Entity:
    """A confirmed person; the first form and the first wording are the full name."""
    forms = (SourceForm(source[0]), *(SourceForm(form, FormRole.GIVEN) for form in source[1:]))
    return Entity(
        id=entity_id(source[0]),
        kind=EntityKind.PERSON,
        source_forms=forms,
        target=target[0],
        short_forms=tuple(target[1:]),
        gender=Gender(gender),
        status=EntityStatus.CONFIRMED,
    )
