"""Direct speech in a text: the quotation of each word, and who speaks or is spoken to, as far as the words say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_OPEN = frozenset(("“", "``", "«"))
_CLOSE = frozenset(("”", "''", "»"))
# A quotation that was never closed ends here, in words.
_LONGEST = 250


@dataclass(frozen=True, slots=True)
class QuotedSpeech:
    """One quotation: its first word and the word after its last, marks included."""

    start: int
    end: int


def find_quotations(words: Sequence[str]) -> list[QuotedSpeech]:
    """The quotations of a text, in order, by double marks, or by single ones if there are more of these."""
    is_double = sum(word in _OPEN or word == '"' for word in words) >= sum(word == "‘" for word in words)
    opening, closing = (_OPEN, _CLOSE) if is_double else (frozenset("‘"), frozenset("’"))
    found: list[QuotedSpeech] = []
    start = -1
    for place, word in enumerate(words):
        is_open = word in opening or (word == '"' and start < 0)
        if start >= 0 and (word in closing or (word == '"' and not is_open)):
            found.append(QuotedSpeech(start, place + 1))
            start = -1
        elif is_open or (start >= 0 and place - start > _LONGEST):
            start = place if is_open else -1
    return found


def quotation_of_words(length: int, quotations: Sequence[QuotedSpeech]) -> list[int]:
    """The number of each word's quotation; -1 outside."""
    found = [-1] * length
    for number, quotation in enumerate(quotations):
        found[quotation.start : quotation.end] = [number] * (quotation.end - quotation.start)
    return found
