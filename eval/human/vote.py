"""A vote: what one rater said of two texts, in the order in which they were shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Choice: TypeAlias = Literal["first", "second", "tie"]
Belief: TypeAlias = Literal["first", "second", "both", "neither"]
Confidence: TypeAlias = Literal["sure", "unsure"]
TrialItemKind: TypeAlias = Literal["pair", "repeat", "spam"]
VoteSide: TypeAlias = Literal["first", "second"]

# In a spam item, the name of the "system" whose text is the shuffled copy. Nobody who reads prefers it.
SHUFFLED_SYSTEM = "(shuffled)"
# The five groups that PAR3 found in what its translators wrote.
ERROR_KINDS = ("overly literal", "discourse", "catastrophic", "precision", "word sense")


@dataclass(frozen=True, slots=True)
class Vote:
    """One rater, one item, one choice. A tie is a choice too; an item that was skipped has no vote."""

    item: str
    rater: str
    first: str
    """The system that was shown first, as A; the rater does not know it."""
    second: str
    choice: Choice
    confidence: Confidence | None = None
    believed_human: Belief | None = None
    errors: Mapping[VoteSide, tuple[str, ...]] = field(default_factory=dict)
    """Of ERRORS, for either text."""
    comment: str = ""
    kind: TrialItemKind = "pair"
    """A repeat shows a pair again; a spam item shows a text beside its own shuffled copy."""
    repeats: str = ""
    """The item that it shows again."""
    book: str = ""
    language: str = ""
    document: str = ""
    """Whose passages were read one after the other, in a test by documents; empty where each stood alone."""
    passage: str = ""
    """What was shown, where the same may stand in several items, each with another pair of systems."""
    at: str = ""
    """When, as ISO 8601 in UTC."""

    @property
    def winner(self) -> str | None:
        """The system that was preferred; None for a tie."""
        return {"first": self.first, "second": self.second, "tie": None}[self.choice]

    @property
    def unit(self) -> str:
        """What was sampled: votes on one passage, or on the passages of one document, are not independent."""
        return self.document or self.passage or self.item

    @property
    def pair(self) -> tuple[str, str]:
        """The two systems, whichever was shown first."""
        return (self.first, self.second) if self.first <= self.second else (self.second, self.first)
