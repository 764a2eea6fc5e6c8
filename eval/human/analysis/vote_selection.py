"""Votes that count for preferences: one for each rater and pair, without repeats and attention items."""

from __future__ import annotations

from collections.abc import Iterable

from ape.errors import InputError
from eval.human.vote import Vote


def select_pair_votes(votes: Iterable[Vote]) -> list[Vote]:
    """Select the votes on pairs, in order. Raises InputError for a rater's second vote on the same two texts."""
    pairs = [vote for vote in votes if vote.kind == "pair"]
    seen: set[tuple[str, str, tuple[str, str]]] = set()
    for vote in pairs:
        if vote.first == vote.second:
            raise InputError(f"Item {vote.item!r} compares {vote.first!r} with itself.")
        key = (vote.item, vote.rater, vote.pair)
        if key in seen:
            raise InputError(
                f"Rater {vote.rater!r} has two votes on {vote.first} and {vote.second} in item {vote.item!r}. "
                "Keep one of them."
            )
        seen.add(key)
    return pairs


def systems_in_votes(votes: Iterable[Vote]) -> tuple[str, ...]:
    """Sorted names of all systems."""
    return tuple(sorted({name for vote in votes for name in vote.pair}))


def pairs_in_votes(votes: Iterable[Vote]) -> tuple[tuple[str, str], ...]:
    """Sorted pairs of systems."""
    return tuple(sorted({vote.pair for vote in votes}))


def raters_in_votes(votes: Iterable[Vote]) -> tuple[str, ...]:
    """Sorted names of all raters."""
    return tuple(sorted({vote.rater for vote in votes}))
