"""Loops: words that a text says again and again, one round right after the other, as weak translation models do.

What the author says again and again is none of these, so they are looked for in an MT beside its source.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import regex

from ape.text.tokens import is_word, token_spans

# Said twice may be emphasis, and so may a single word said three times.
MIN_ROUNDS = 3
MIN_ROUNDS_OF_ONE_WORD = 4
# Words, or characters where there are no spaces, of one round.
_LONGEST = 20
# Laughter, a stammer and the like, that some languages write as one word and others as several; and where these only
# double it, the MT of one word may be a few.
_WITHIN_A_WORD = regex.compile(r"(\p{L}{1,4}?)\1{2,}")
_DOUBLED = regex.compile(r"(\p{L}{2,4})\1|(\p{Han})\2")
_A_FEW = 6
# An address, or a sound with hyphens, which is one word to the reader.
_ONE_WORD = regex.compile(r"[^\s\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+")


@dataclass(frozen=True, slots=True)
class Loop:
    """Where a loop stands in the text, its words in small letters, and how many of them are one round."""

    span: tuple[int, int]
    words: tuple[str, ...]
    period: int

    @property
    def rounds(self) -> float:
        """How often the words are said; the last time may be cut off."""
        return len(self.words) / self.period

    def shortest(self, joining: Collection[str]) -> int:
        """How many of its words, from the first on, are to be kept: a round, and the open one, which leads on.

        Or that alone, if only joining words are missing from it: of "a king, nor a king, nor a king", "a king".
        """
        open_end = len(self.words) % self.period
        if open_end and set(self.words[open_end : self.period]) <= set(joining):
            return open_end
        return self.period + open_end

    def is_cut_to(self, left: Sequence[str], joining: Collection[str]) -> bool:
        """Whether these words are what the loop may be cut to: at least one round, with or without the open one.

        Or that alone, if it may stand so.
        """
        if len(left) >= len(self.words) or tuple(left) != self.words[: len(left)]:
            return False
        if len(left) >= self.period:
            return len(left) % self.period in (0, len(self.words) % self.period)
        return len(left) == self.shortest(joining)


def find_added_loops(text: str, source: str) -> list[Loop]:
    """The loops of a text, from left to right; none where its source says anything over and over."""
    found = find_loops(text)
    if not found or find_loops(source) or _WITHIN_A_WORD.search(source.lower()):
        return []
    doubled = _DOUBLED.search(source.lower()) is not None
    return [loop for loop in found if loop.period > 1 or loop.rounds >= _A_FEW or not doubled]


def find_loops(text: str) -> list[Loop]:
    """The loops of enough rounds, from left to right, none within another; the longest from each place."""
    places = word_spans(text)
    words = [text[start:end].lower() for start, end in places]
    runs = {period: _runs(words, period) for period in range(1, min(_LONGEST, len(words) // MIN_ROUNDS) + 1)}
    found: list[Loop] = []
    at = 0
    while at < len(words):
        begun = [(same[at] + period, -period) for period, same in runs.items() if same[at] >= _fewest(period)]
        if not begun:
            at += 1
            continue
        length, period = max(begun)
        span = (places[at][0], places[at + length - 1][1])
        if _ONE_WORD.fullmatch(text, *span) is None:
            found.append(Loop(span, tuple(words[at : at + length]), -period))
        at += length
    return found


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where the words stand."""
    return [place for place in token_spans(text) if is_word(text[place[0] : place[1]])]


def collapse_loops(text: str, source: str, *, joining: Collection[str] = ()) -> str:
    """The text with each loop of its own cut to what is left when it is said once."""
    parts, done = [], 0
    for loop in find_added_loops(text, source):
        start, end = loop.span
        last = word_spans(text[start:end])[loop.shortest(joining) - 1][1]
        parts.append(text[done : start + last])
        done = end
    return "".join([*parts, text[done:]])


def _fewest(period: int) -> int:
    """Of words that are the same as those a round later. The last round may lack a word that joins it to the next."""
    if period == 1:
        return MIN_ROUNDS_OF_ONE_WORD - 1
    return (MIN_ROUNDS - 1) * period - (period > 2)


def _runs(words: Sequence[str], period: int) -> list[int]:
    """From each place, how many words in a row are the same as those a period later."""
    same = [0] * (len(words) + 1)
    for at in range(len(words) - period - 1, -1, -1):
        same[at] = same[at + 1] + 1 if words[at] == words[at + period] else 0
    return same
