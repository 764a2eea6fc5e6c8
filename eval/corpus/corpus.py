"""Corpus of documents: aligned segments of source, references and the outputs of all systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ape.errors import InputError
from eval.corpus.pronoun_marks import remove_pronoun_marks


@dataclass(frozen=True, slots=True)
class Document:
    """Segments in reading order, aligned across all texts.

    Only a reference may have None for a segment: that translation lacks it.
    """

    id: str
    outputs: Mapping[str, tuple[str, ...]]
    """Texts by system name."""
    references: tuple[tuple[str | None, ...], ...] = ()
    """Each a translation of the whole document."""
    sources: tuple[str, ...] = ()
    """Empty where the source is unknown."""
    book: str = ""

    def __post_init__(self) -> None:
        lengths = {f"system {name!r}": len(texts) for name, texts in self.outputs.items()}
        lengths |= {f"reference {number}": len(texts) for number, texts in enumerate(self.references, 1)}
        if self.sources:
            lengths["the source"] = len(self.sources)
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{text} has {length}" for text, length in lengths.items())
            raise InputError(f"The texts of document {self.id!r} differ in their number of segments: {counts}.")

    def __len__(self) -> int:
        return max(map(len, (self.sources, *self.references, *self.outputs.values())))

    def references_of(self, segment: int) -> tuple[str, ...]:
        """The reference translations of one segment."""
        return tuple(text for texts in self.references if (text := texts[segment]) is not None)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents with the same systems in each, and their languages as "zh", "en"."""

    documents: tuple[Document, ...]
    source_language: str = "und"
    target_language: str = "und"
    name: str = field(default="", compare=False)
    caveats: tuple[str, ...] = field(default=(), compare=False)
    """Sentences that must stand wherever scores of this corpus stand."""

    def __post_init__(self) -> None:
        if not self.documents:
            raise InputError("The corpus has no documents.")
        ids = [document.id for document in self.documents]
        if repeated := {name for name in ids if ids.count(name) > 1}:
            raise InputError(f"Two documents have the same id: {', '.join(sorted(repeated))}.")
        for document in self.documents:
            if differing := document.outputs.keys() ^ set(self.systems):
                raise InputError(
                    f"Not every document has an output of {', '.join(sorted(differing))}: see {document.id!r}."
                )

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of all systems, in the order of the first document."""
        return tuple(self.documents[0].outputs)

    def __len__(self) -> int:
        """The number of segments."""
        return sum(map(len, self.documents))

    def segments(self) -> Iterator[tuple[int, Document, int]]:
        """Every segment: index of its document, the document, index in the document."""
        for number, document in enumerate(self.documents):
            for segment in range(len(document)):
                yield number, document, segment

    def with_system(self, name: str, texts: Sequence[Sequence[str]]) -> Corpus:
        """A copy with one more system, given as segments by document."""
        pairs = zip(self.documents, texts, strict=True)
        added = tuple(
            replace(document, outputs={**document.outputs, name: tuple(segments)}) for document, segments in pairs
        )
        return replace(self, documents=added)

    def without_pronoun_marks(self) -> Corpus:
        """The corpus with plain sources, or itself if no source has marks."""
        documents = tuple(
            replace(document, sources=tuple(map(remove_pronoun_marks, document.sources))) for document in self.documents
        )
        return self if documents == self.documents else replace(self, documents=documents)
