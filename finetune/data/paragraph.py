"""A paragraph as the readers hand it over: a source, its MT, and one or more human versions of it."""

from __future__ import annotations

from dataclasses import dataclass

from finetune.data.example import Example


@dataclass(frozen=True, slots=True)
class TrainingParagraph:
    """One place of a book. Of the `humans`, (translator, text) each, the first is the one to learn from.

    `split` is set where the user said by the file on which side the paragraph belongs.
    """

    id: str
    book: str
    source: str
    mt: str
    humans: tuple[tuple[str, str], ...]
    source_language: str
    target_language: str
    split: str | None = None

    @property
    def human(self) -> str:
        """The version to learn from."""
        return self.humans[0][1]

    @property
    def pair(self) -> str:
        """Its languages, as "fr-en"."""
        return f"{self.source_language}-{self.target_language}"

    def to_example(self) -> Example:
        """As it is learnt: an MT that the person left alone is an identity."""
        return Example(
            self.id,
            self.book,
            self.source,
            self.mt,
            self.human,
            self.source_language,
            self.target_language,
            "identity" if self.mt == self.human else "edit",
        )
