"""Find loops: words that a text repeats round after round, as weak translation models do.

Repetition that the source has too is the author's, so loops are looked for in an MT next to its source.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import regex

from ape.text.tokens import is_word, token_spans

# Two rounds may be emphasis, and so may a single word three times.
MIN_ROUNDS = 3
MIN_ROUNDS_OF_ONE_WORD = 4
# The longest round: words, or characters in scripts without spaces.
_MAX_PERIOD = 20
# Laughter or a stammer is one word in some languages and several in others. If the source only doubles a syllable,
# the MT may still repeat one word a few times.
_REPEATED_SYLLABLE = regex.compile(r"(\p{L}{1,4}?)\1{2,}")
_DOUBLED_SYLLABLE = regex.compile(r"(\p{L}{2,4})\1|(\p{Han})\2")
_MIN_ROUNDS_AFTER_DOUBLING = 6
# A URL, or a sound with hyphens, which is one word to the reader.
_SINGLE_WORD = regex.compile(r"[^\s\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+")


@dataclass(frozen=True, slots=True)
class Loop:
    """The span of a loop in its text, its words in lower case, and the number of words in one round."""

    span: tuple[int, int]
    words: tuple[str, ...]
    period: int

    @property
    def rounds(self) -> float:
        """The number of rounds; the last may be incomplete."""
        return len(self.words) / self.period

    def shortest(self, joining: Collection[str]) -> int:
        """How many of its first words to keep: one round, and the incomplete last one, which leads on.

        The incomplete round is enough if it lacks only joining words: "a king" of "a king, nor a king, nor a king".
        """
        incomplete = len(self.words) % self.period
        if incomplete and set(self.words[incomplete : self.period]) <= set(joining):
            return incomplete
        return self.period + incomplete

    def is_shortened_to(self, left: Sequence[str], joining: Collection[str]) -> bool:
        """Whether the loop may be cut to these: whole rounds, with or without the incomplete one, or `shortest`."""
        if len(left) >= len(self.words) or tuple(left) != self.words[: len(left)]:
            return False
        if len(left) >= self.period:
            return len(left) % self.period in (0, len(self.words) % self.period)
        return len(left) == self.shortest(joining)


def find_added_loops(text: str, source: str) -> list[Loop]:
    """Find the loops of a text, from left to right; none if its source repeats anything."""
    found = find_loops(text)
    if not found or find_loops(source) or _REPEATED_SYLLABLE.search(source.lower()):
        return []
    doubled = _DOUBLED_SYLLABLE.search(source.lower()) is not None
    return [loop for loop in found if loop.period > 1 or loop.rounds >= _MIN_ROUNDS_AFTER_DOUBLING or not doubled]


def find_loops(text: str) -> list[Loop]:
    """Find the loops of enough rounds, from left to right, without overlap; the longest from each word."""
    spans = word_spans(text)
    words = [text[start:end].lower() for start, end in spans]
    runs = {period: _runs(words, period) for period in range(1, min(_MAX_PERIOD, len(words) // MIN_ROUNDS) + 1)}
    found: list[Loop] = []
    index = 0
    while index < len(words):
        begun = [(same[index] + period, -period) for period, same in runs.items() if same[index] >= _min_run(period)]
        if not begun:
            index += 1
            continue
        length, period = max(begun)
        span = (spans[index][0], spans[index + length - 1][1])
        if _SINGLE_WORD.fullmatch(text, *span) is None:
            found.append(Loop(span, tuple(words[index : index + length]), -period))
        index += length
    return found


def word_spans(text: str) -> list[tuple[int, int]]:
    """The spans of the words of a text."""
    return [(start, end) for start, end in token_spans(text) if is_word(text[start:end])]


def collapse_loops(text: str, source: str, *, joining: Collection[str] = ()) -> str:
    """Cut each loop that the source lacks to its shortest form."""
    parts, done = [], 0
    for loop in find_added_loops(text, source):
        start, end = loop.span
        last = word_spans(text[start:end])[loop.shortest(joining) - 1][1]
        parts.append(text[done : start + last])
        done = end
    return "".join([*parts, text[done:]])


def _min_run(period: int) -> int:
    """How many words must equal those one round later; the last round may lack a joining word."""
    if period == 1:
        return MIN_ROUNDS_OF_ONE_WORD - 1
    return (MIN_ROUNDS - 1) * period - (period > 2)


def _runs(words: Sequence[str], period: int) -> list[int]:
    """For each word, how many words from it on equal those one period later."""
    same = [0] * (len(words) + 1)
    for index in range(len(words) - period - 1, -1, -1):
        same[index] = same[index + 1] + 1 if words[index] == words[index + period] else 0
    return same
