"""What is measured: documents of segments, each with its source, its references, and what every system made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ape.errors import InputError


@dataclass(frozen=True, slots=True)
class Document:
    """Segments in reading order, side by side in every text of it.

    A text of a segment may be None only in a reference: that one has no translation of it.
    """

    id: str
    outputs: Mapping[str, tuple[str, ...]]
    """By the name of the system."""
    references: tuple[tuple[str | None, ...], ...] = ()
    """Each a whole translation of the document."""
    sources: tuple[str, ...] = ()
    """None at all where the source is not known."""
    book: str = ""

    def __post_init__(self) -> None:
        lengths = {f"system {name!r}": len(texts) for name, texts in self.outputs.items()}
        lengths |= {f"reference {number}": len(texts) for number, texts in enumerate(self.references, 1)}
        if self.sources:
            lengths["the source"] = len(self.sources)
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{what} has {count}" for what, count in lengths.items())
            raise InputError(f"The texts of document {self.id!r} differ in their number of segments: {told}.")

    def __len__(self) -> int:
        return max(map(len, (self.sources, *self.references, *self.outputs.values())))

    def references_of(self, segment: int) -> tuple[str, ...]:
        """The translations there are of one segment."""
        return tuple(text for texts in self.references if (text := texts[segment]) is not None)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents with the same systems in each, and their languages as "zh", "en"."""

    documents: tuple[Document, ...]
    source_language: str = "und"
    target_language: str = "und"
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.documents:
            raise InputError("There is no document to be measured.")
        twice = {one.id for one in self.documents if sum(one.id == other.id for other in self.documents) > 1}
        if twice:
            raise InputError(f"Two documents have the same id: {', '.join(sorted(twice))}.")
        for document in self.documents:
            if document.outputs.keys() != set(self.systems):
                odd = sorted(document.outputs.keys() ^ set(self.systems))
                raise InputError(
                    f"Not every document has an output of {', '.join(odd)}: see {document.id!r}."
                )

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of all systems, in the order given."""
        return tuple(self.documents[0].outputs)

    def __len__(self) -> int:
        """How many segments there are."""
        return sum(map(len, self.documents))

    def with_system(self, name: str, texts: Sequence[Sequence[str]]) -> Corpus:
        """The same with one system more: its segments, document by document."""
        pairs = zip(self.documents, texts, strict=True)
        added = tuple(replace(one, outputs={**one.outputs, name: tuple(given)}) for one, given in pairs)
        return replace(self, documents=added)
