"""A blind test: which passages of which systems are shown, and to each rater in which order.

The trial knows everything; a rater is only given a sheet, where the two texts are A and B and their systems are not
told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from eval.human.vote import TrialItemKind

TrialCondition: TypeAlias = Literal["paragraph", "document"]


@dataclass(frozen=True, slots=True)
class TrialPassage:
    """A place in the set: one paragraph, or several that follow each other."""

    id: str
    paragraphs: int
    sources: tuple[str, ...] = ()
    """None in a monolingual test."""
    book: str = ""
    language: str = ""
    """Of the source, as "zh"."""
    document: str = ""
    """Where it is from: in the document condition its passages are read one after the other."""


@dataclass(frozen=True, slots=True)
class TrialItem:
    """Two texts of one passage. Which of them is A is decided for each rater."""

    id: str
    passage: str
    systems: tuple[str, str]
    texts: tuple[tuple[str, ...], tuple[str, ...]]
    """In the order of the systems, paragraph by paragraph."""
    kind: TrialItemKind = "pair"
    repeats: str = ""
    """The item that it shows again, the other way round."""


@dataclass(frozen=True, slots=True)
class Trial:
    """All that was decided when the test was made; the same seed makes the same trial."""

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
    """Whether a rater may have the differences marked."""
    raters: tuple[str, ...] = ()
    """Those known from the start: over each two of them every item is shown both ways round."""
    target_language: str = "und"
    design: tuple[tuple[str, Any], ...] = ()
    """How it was sampled, as given: length window, strata, share of repeats and spam."""


@dataclass(frozen=True, slots=True)
class SheetItem:
    """An item as one rater meets it: `swapped` where the second system is A."""

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
        """As A and B."""
        one, other = self.item.texts
        return (other, one) if self.swapped else (one, other)
