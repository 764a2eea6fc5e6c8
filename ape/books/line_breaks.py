"""Meaningful line breaks, as in verse: restore them in a new text at the same words."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from ape.books.line_wrapping import wrap_text

# From here on words that are everywhere are left out of the comparison, which takes the square of the length.
_LONG = 1_000


def restore_line_breaks(lines: Sequence[str], new: str) -> list[str]:
    """A new text with line ends where the old one had them: after the same words, or what stands in their place."""
    old = [_words(line) for line in lines]
    before, after = [word for some in old for word in some], _words(new)
    ways = SequenceMatcher(None, before, after, autojunk=len(before) > _LONG).get_opcodes()
    cuts = [0]
    for end in list(accumulate(map(len, old)))[:-1]:
        place = next((_moved(end, *way[1:]) for way in ways if way[1] < end <= way[2]), 0)
        if cuts[-1] < place < len(after):
            cuts.append(place)
    starts = _starts(new, after)
    return [
        new[start:stop].strip() for start, stop in pairwise([*(starts[place] for place in cuts), len(new)])
    ]


def _words(text: str) -> list[str]:
    """What a line may begin with: where there is no room at all, each stands on a line of its own."""
    return list(wrap_text(text, 0))


def _starts(text: str, words: Sequence[str]) -> list[int]:
    starts, at = [], 0
    for word in words:
        starts.append(text.index(word, at))
        at = starts[-1] + len(word)
    return starts


def _moved(end: int, start: int, stop: int, new_start: int, new_stop: int) -> int:
    """Where in the new stretch the line ends that ended after so many words of the old one."""
    return new_start + round((end - start) * (new_stop - new_start) / (stop - start))
