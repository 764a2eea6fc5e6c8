"""A training example: a source, its MT and the human version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ape.passage.segment import Segment
from ape.text.languages import language_name
from prompts import Question

ExampleKind = Literal["edit", "identity", "stutter"]
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class Example:
    """SRC, MT and HUM of one paragraph. A `book` is never divided between splits.

    An "identity" is an MT that is good as it is: its HUM is itself, against over-editing. A "stutter"
    is a text that was made to say some words again and again: its HUM says them once.
    """

    id: str
    book: str
    source: str
    mt: str
    human: str
    source_language: str
    target_language: str
    kind: ExampleKind = "edit"

    @property
    def question(self) -> Question:
        """The question from which a prompt is rendered."""
        return Question(self.source, self.mt, language_name(self.source_language), language_name(self.target_language))

    @property
    def segment(self) -> Segment:
        """The example as a passage to post-edit."""
        return Segment(self.source, self.mt, self.source_language, self.target_language)

    @property
    def pair(self) -> str:
        """Language pair, as "fr-en"."""
        return f"{self.source_language}-{self.target_language}"


def sample_evenly(examples: Sequence[Example], count: int) -> list[Example]:
    """A sample of `count` items at even distances, since rows are ordered by book and language."""
    few = min(count, len(examples))
    return [examples[at * len(examples) // few] for at in range(few)]
