"""Meaningful line breaks, as in verse: restore them in a new text at the same words."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from ape.books.line_wrapping import wrap_text

# Longer texts are compared without their most frequent words, since time grows with the square of the length.
_LONG = 1_000


def restore_line_breaks(lines: Sequence[str], new: str) -> list[str]:
    """Split a new text into lines after the same words as the old one, or after their replacements."""
    old = [_words(line) for line in lines]
    before, after = [word for words in old for word in words], _words(new)
    opcodes = SequenceMatcher(None, before, after, autojunk=len(before) > _LONG).get_opcodes()
    cuts = [0]
    for end in list(accumulate(map(len, old)))[:-1]:
        place = next((_map_position(end, *opcode[1:]) for opcode in opcodes if opcode[1] < end <= opcode[2]), 0)
        if cuts[-1] < place < len(after):
            cuts.append(place)
    starts = _starts(new, after)
    return [new[start:stop].strip() for start, stop in pairwise([*(starts[place] for place in cuts), len(new)])]


def _words(text: str) -> list[str]:
    """Units that a line may begin with: wrapped to zero columns, each is one line."""
    return list(wrap_text(text, 0))


def _starts(text: str, words: Sequence[str]) -> list[int]:
    starts, at = [], 0
    for word in words:
        starts.append(text.index(word, at))
        at = starts[-1] + len(word)
    return starts


def _map_position(end: int, start: int, stop: int, new_start: int, new_stop: int) -> int:
    """Map a position in a range of old words proportionally to the range of new words."""
    return new_start + round((end - start) * (new_stop - new_start) / (stop - start))
