"""Lookup of trial items by id, and validation of votes against them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ape.errors import InputError
from eval.human.span import join_paragraphs, span_problem
from eval.human.trial import Trial, TrialItem, TrialPassage
from eval.human.vote import Vote


class TrialIndex:
    """A trial with its items indexed by id."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self._passages = {passage.id: passage for passage in trial.passages}
        self._items = {item.id: item for item in trial.items}

    def find(self, item: str) -> tuple[TrialItem, TrialPassage]:
        """The item and its passage. Raises InputError for an unknown item."""
        found = self._items.get(item)
        if found is None:
            raise InputError(
                f"There is no item {item[:40]!r} in the trial {self.trial.name!r}. Is the vote from another trial?",
                field="item",
            )
        return found, self._passages[found.passage]

    def complete_vote(self, vote: Vote) -> Vote:
        """Add the item's data to a vote. Raises InputError if the vote does not match the item."""
        item, passage = self.find(vote.item)
        if {vote.first, vote.second} != set(item.systems):
            raise InputError(
                f"Item {vote.item!r} shows {' and '.join(item.systems)}, but the vote is between {vote.first[:40]} and "
                f"{vote.second[:40]}.",
                field="item",
            )
        if vote.choice == "tie" and not self.trial.ties:
            raise InputError("This trial does not allow ties: choose A or B.", field="choice")
        self._check_spans(vote, item)
        return replace(
            vote,
            kind=item.kind,
            repeats=item.repeats,
            book=passage.book,
            language=passage.language,
            document=passage.document if self.trial.condition == "document" else "",
            passage=item.passage,
        )

    def _check_spans(self, vote: Vote, item: TrialItem) -> None:
        """Check that there are scores and spans where the trial asks for them, and that spans are in their text."""
        protocol = self.trial.spans
        if protocol is None:
            if vote.scores or vote.spans:
                raise InputError("This trial asks for no scores and spans.", field="scores")
            return
        if len(vote.scores) < 2:
            raise InputError("Both texts need a score from 0 to 100.", field="scores")
        texts = dict(zip(item.systems, item.texts, strict=True))
        shown = {side: texts[system] for side, system in vote.sides}
        for side, spans in vote.spans.items():
            text = join_paragraphs(shown[side])
            if problem := next(filter(None, (span_problem(span, text, protocol) for span in spans)), ""):
                raise InputError(f"Item {item.id!r}, {side} text: {problem}.", field="spans")


def votes_by_passage(votes: Iterable[Vote], trial: Trial) -> list[Vote]:
    """Rename the item of each vote to its passage, as in a corpus: "ch1:12"."""
    passages = {item.id: item.passage for item in trial.items}
    return [replace(vote, item=passages[vote.item]) for vote in votes]
