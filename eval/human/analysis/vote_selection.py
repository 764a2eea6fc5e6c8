"""Which votes count for a preference: those on pairs, one for each rater and pair. Repeats and spam test the raters."""

from __future__ import annotations

from collections.abc import Iterable

from ape.errors import InputError
from eval.human.vote import Vote


def select_pair_votes(votes: Iterable[Vote]) -> list[Vote]:
    """The votes on pairs, in the order given; a second vote of a rater on the same two texts is refused."""
    found = [vote for vote in votes if vote.kind == "pair"]
    seen: set[tuple[str, str, tuple[str, str]]] = set()
    for vote in found:
        if vote.first == vote.second:
            raise InputError(
                f"Item {vote.item!r} shows {vote.first!r} beside itself: there is nothing to prefer."
            )
        key = (vote.item, vote.rater, vote.pair)
        if key in seen:
            raise InputError(
                f"Rater {vote.rater!r} has two votes on {vote.first} and {vote.second} in item {vote.item!r}: keep "
                "one, since both would be counted."
            )
        seen.add(key)
    return found


def systems_in_votes(votes: Iterable[Vote]) -> tuple[str, ...]:
    """All systems that were voted on, by name."""
    return tuple(sorted({name for vote in votes for name in vote.pair}))


def pairs_in_votes(votes: Iterable[Vote]) -> tuple[tuple[str, str], ...]:
    """All pairs of systems that were compared, by name."""
    return tuple(sorted({vote.pair for vote in votes}))


def raters_in_votes(votes: Iterable[Vote]) -> tuple[str, ...]:
    """All who voted, by name."""
    return tuple(sorted({vote.rater for vote in votes}))
