"""A vote: one rater's choice between two texts, in the order of display."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from eval.human.span import ErrorSpan

Choice: TypeAlias = Literal["first", "second", "tie"]
Belief: TypeAlias = Literal["first", "second", "both", "neither"]
Confidence: TypeAlias = Literal["sure", "unsure"]
TrialItemKind: TypeAlias = Literal["pair", "repeat", "spam"]
VoteSide: TypeAlias = Literal["first", "second"]
DisplayOrder: TypeAlias = Literal["shown", "unknown"]

# The "system" of the shuffled copy in an attention item; a careful rater never prefers it.
SHUFFLED_SYSTEM = "(shuffled)"
# The five groups of translators' comments in PAR3.
ERROR_KINDS = ("overly literal", "discourse", "catastrophic", "precision", "word sense")


@dataclass(frozen=True, slots=True)
class Vote:
    """One rater's choice on one item. A tie is a choice; a skipped item has no vote."""

    item: str
    rater: str
    first: str
    """The system shown first, as A; hidden from the rater."""
    second: str
    choice: Choice
    confidence: Confidence | None = None
    believed_human: Belief | None = None
    errors: Mapping[VoteSide, tuple[str, ...]] = field(default_factory=dict)
    """Members of ERROR_KINDS, for each text."""
    scores: Mapping[VoteSide, float] = field(default_factory=dict)
    """From 0 to 100, in trials with spans; the choice follows from them."""
    spans: Mapping[VoteSide, tuple[ErrorSpan, ...]] = field(default_factory=dict)
    """The errors marked in each text."""
    comment: str = ""
    kind: TrialItemKind = "pair"
    """A repeat shows a pair again; "spam" is an attention item, a text paired with its shuffled copy."""
    repeats: str = ""
    """The item that a repeat shows again."""
    book: str = ""
    language: str = ""
    document: str = ""
    """The document whose passages were read consecutively; empty in the paragraph condition."""
    passage: str = ""
    """The passage; several items may show it with different pairs of systems."""
    at: str = ""
    """Time, ISO 8601 in UTC."""
    order: DisplayOrder = "shown"
    """Whether `first` and `second` are the order of display; if unknown, position bias can't be measured."""

    @property
    def sides(self) -> tuple[tuple[VoteSide, str], tuple[VoteSide, str]]:
        """Both sides with their systems."""
        return ("first", self.first), ("second", self.second)

    @property
    def winner(self) -> str | None:
        """The preferred system; None for a tie."""
        return {"first": self.first, "second": self.second, "tie": None}[self.choice]

    @property
    def unit(self) -> str:
        """The cluster of a vote: votes on one passage, or on one document, are not independent."""
        return self.document or self.passage or self.item

    @property
    def pair(self) -> tuple[str, str]:
        """The two systems, sorted by name."""
        return (self.first, self.second) if self.first <= self.second else (self.second, self.first)
