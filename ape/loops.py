"""Loops: words that a text says again and again, one round right after the other, as weak translation models do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ape.words import is_word, spans

# Said twice may be emphasis.
ROUNDS = 3
# Words, or characters where there are no spaces, of one round.
_LONGEST = 20


@dataclass(frozen=True, slots=True)
class Loop:
    """Where a loop stands in the text, how many words it has, and how many of them are one round."""

    span: tuple[int, int]
    words: int
    period: int

    @property
    def rounds(self) -> float:
        """How often the words are said; the last time may be cut off."""
        return self.words / self.period


def find_loops(text: str) -> list[Loop]:
    """The loops of at least three rounds, from left to right, none within another; the longest from each place."""
    places = [place for place in spans(text) if is_word(text[place[0] : place[1]])]
    words = [text[start:end].lower() for start, end in places]
    runs = {period: _runs(words, period) for period in range(1, min(_LONGEST, len(words) // ROUNDS) + 1)}
    found: list[Loop] = []
    at = 0
    while at < len(words):
        begun = [
            (same[at] + period, -period) for period, same in runs.items() if same[at] >= (ROUNDS - 1) * period
        ]
        if not begun:
            at += 1
            continue
        length, period = max(begun)
        found.append(Loop((places[at][0], places[at + length - 1][1]), length, -period))
        at += length
    return found


def _runs(words: Sequence[str], period: int) -> list[int]:
    """From each place, how many words in a row are the same as those a period later."""
    same = [0] * (len(words) + 1)
    for at in range(len(words) - period - 1, -1, -1):
        same[at] = same[at + 1] + 1 if words[at] == words[at + period] else 0
    return same
