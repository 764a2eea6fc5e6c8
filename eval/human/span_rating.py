"""One rater's score and spans of one text, whatever page or tool it was marked on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eval.human.span import ErrorSpan, join_paragraphs
from eval.human.trial import Trial
from eval.human.vote import TrialItemKind, Vote


@dataclass(frozen=True, slots=True)
class SpanRating:
    """A score from 0 to 100 and the marked errors."""

    item: str
    rater: str
    system: str
    score: float
    spans: tuple[ErrorSpan, ...]
    length: int
    """Characters of the text."""
    passage: str = ""
    cluster: str = ""
    """Ratings of one cluster, a passage or document, are not independent."""
    kind: TrialItemKind = "pair"
    repeats: str = ""

    @property
    def points(self) -> float:
        """MQM points: the sum of the weights; 0 for a text without errors."""
        return sum(span.weight for span in self.spans)


def ratings_of_votes(votes: Iterable[Vote], trial: Trial | None = None) -> list[SpanRating]:
    """Two ratings of each vote that has scores. Without the trial, a text is as long as its last span."""
    lengths = {
        (item.id, system): len(join_paragraphs(text))
        for item in (trial.items if trial else ())
        for system, text in zip(item.systems, item.texts, strict=True)
    }
    return [rating for vote in votes if vote.scores for rating in _both(vote, lengths)]


def _both(vote: Vote, lengths: dict[tuple[str, str], int]) -> Iterator[SpanRating]:
    for side, system in vote.sides:
        spans = vote.spans.get(side, ())
        last = max((span.end for span in spans), default=0)
        yield SpanRating(
            vote.item,
            vote.rater,
            system,
            vote.scores[side],
            tuple(spans),
            lengths.get((vote.item, system), last),
            vote.passage or vote.item,
            vote.unit,
            vote.kind,
            vote.repeats,
        )
