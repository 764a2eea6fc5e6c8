"""Votes from a string of winners."""

from __future__ import annotations

from typing import Any

from eval.human.vote import Choice, Vote

_CHOICES: dict[str, Choice] = {"x": "first", "y": "second", "=": "tie"}


def votes(
    line: str, *, rater: str = "r", first: str = "x", second: str = "y", start: int = 0, **more: Any
) -> list[Vote]:
    """One vote per letter: "x" if the first system won, "y" if the second, "=" for a tie; sides alternate."""
    made = []
    for at, letter in enumerate(line.replace(" ", ""), start):
        choice = _CHOICES[letter]
        if at % 2:
            swapped: dict[Choice, Choice] = {"first": "second", "second": "first", "tie": "tie"}
            made.append(Vote(f"i{at}", rater, second, first, swapped[choice], **more))
        else:
            made.append(Vote(f"i{at}", rater, first, second, choice, **more))
    return made
