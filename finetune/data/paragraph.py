"""A paragraph as read for training: a source, its MT and one or more human versions."""

from __future__ import annotations

from dataclasses import dataclass

from finetune.data.example import Example


@dataclass(frozen=True, slots=True)
class TrainingParagraph:
    """A paragraph of a book. `humans` are (translator, text); the first is the training target.

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
        """The human version to train on."""
        return self.humans[0][1]

    @property
    def pair(self) -> str:
        """Language pair, as "fr-en"."""
        return f"{self.source_language}-{self.target_language}"

    def to_example(self) -> Example:
        """The paragraph as an example; an unchanged MT makes an identity."""
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
