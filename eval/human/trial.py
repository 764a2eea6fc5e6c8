"""A blind test (trial): its passages, systems and items.

The trial contains the systems of all texts; raters only get a sheet, on which the texts are A and B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from eval.human.span import SpanProtocol
from eval.human.vote import TrialItemKind

TrialCondition: TypeAlias = Literal["paragraph", "document"]


@dataclass(frozen=True, slots=True)
class TrialPassage:
    """A passage of the set: one paragraph or several consecutive ones."""

    id: str
    paragraphs: int
    sources: tuple[str, ...] = ()
    """Empty in a monolingual trial."""
    book: str = ""
    language: str = ""
    """Source language, such as "zh"."""
    document: str = ""
    """Its document; in the document condition the passages of a document are read consecutively."""


@dataclass(frozen=True, slots=True)
class TrialItem:
    """Two texts of one passage; the sheet decides which is A for a rater."""

    id: str
    passage: str
    systems: tuple[str, str]
    texts: tuple[tuple[str, ...], tuple[str, ...]]
    """Paragraphs of each text, in the order of the systems."""
    kind: TrialItemKind = "pair"
    repeats: str = ""
    """The item that this one repeats with swapped sides."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A complete trial; the same seed gives the same trial."""

    id: str
    name: str
    seed: int
    systems: tuple[str, ...]
    passages: tuple[TrialPassage, ...]
    items: tuple[TrialItem, ...]
    condition: TrialCondition = "paragraph"
    bilingual: bool = True
    ties: bool = True
    marks: bool = True
    """Whether raters may highlight differences."""
    raters: tuple[str, ...] = ()
    """Raters known in advance; each two of them see every item with both sides."""
    target_language: str = "und"
    design: tuple[tuple[str, Any], ...] = ()
    """The settings and counts of sampling."""
    spans: SpanProtocol | None = None
    """Whether raters mark error spans and give scores, instead of choosing a text."""
    per_rater: int | None = None
    """Items for each rater, allocated while they vote; None: every rater sees all items."""


@dataclass(frozen=True, slots=True)
class SheetItem:
    """An item on a rater's sheet; `swapped` if the second system is A."""

    item: TrialItem
    passage: TrialPassage
    swapped: bool

    @property
    def first(self) -> str:
        """The system shown as A."""
        return self.item.systems[1 if self.swapped else 0]

    @property
    def second(self) -> str:
        """The system shown as B."""
        return self.item.systems[0 if self.swapped else 1]

    @property
    def texts(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The texts shown as A and B."""
        one, other = self.item.texts
        return (other, one) if self.swapped else (one, other)
