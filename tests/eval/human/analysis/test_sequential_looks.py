"""Sequential looks at votes."""

from __future__ import annotations

from dataclasses import replace

from eval.human.analysis.sequential_looks import sequential_look
from eval.statistics.confidence_sequence import SequentialLook, sequential_look_at_wins
from eval.statistics.counts import Unmeasured
from tests.eval.human.analysis.vote_factory import votes


def test_votes_are_ordered_by_time_and_each_item_counts_once() -> None:
    own = [replace(vote, at=f"2026-01-01T00:00:{60 - at:02}Z") for at, vote in enumerate(votes("xxxxyyyy"), 1)]
    found = sequential_look(own, "x", "y")
    assert isinstance(found, SequentialLook)
    assert found == sequential_look_at_wins([False] * 4 + [True] * 4, "x", "y")
    twice = sequential_look([*votes("xxxx=", rater="a"), *votes("yyyyy", rater="b")], "x", "y")
    assert isinstance(twice, SequentialLook)
    assert (twice.wins, twice.votes) == (4, 5)
    assert isinstance(sequential_look(votes("=="), "x", "y"), Unmeasured)
