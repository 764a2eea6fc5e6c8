"""Words as pieces of a fixed vocabulary, and the shapes that the lower-cased pieces lose."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from ape.text.common_words import is_common_word

Pieces: TypeAlias = tuple[int, ...]

# The ends of a longer word say enough, and bound the cost of hostile text.
MAX_PIECES = 4
_LONGEST_WORD = 64
_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "."})
SHAPES = ("lower", "Title", "UPPER", "Single", "miXed", "digit", "other")
"""The uses of capitals; each once for common words and once for others."""


@dataclass(frozen=True, slots=True)
class WordPieces:
    """Splits words greedily into the longest pieces of a vocabulary, where "##" marks a continuation."""

    vocabulary: Sequence[str]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)
    _known: dict[str, Pieces] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {piece: place for place, piece in enumerate(self.vocabulary)})

    @property
    def first(self) -> int:
        """The piece before a text."""
        return self._ids["[CLS]"]

    @property
    def last(self) -> int:
        """The piece after a text."""
        return self._ids["[SEP]"]

    @property
    def unknown(self) -> int:
        """The piece of a word that the vocabulary can't spell."""
        return self._ids["[UNK]"]

    def split(self, word: str) -> Pieces:
        """The pieces of a word; at least one, at most `MAX_PIECES`."""
        found = self._known.get(word)
        if found is None:
            found = self._split(word)
            if len(self._known) < 200_000:
                self._known[word] = found
        return found

    def _split(self, word: str) -> Pieces:
        plain = unicodedata.normalize("NFD", word[:_LONGEST_WORD].translate(_PLAIN).lower())
        plain = "".join(character for character in plain if unicodedata.category(character) != "Mn")
        pieces: list[int] = []
        for part in _parts(plain):
            pieces += self._pieces(part)
        pieces = pieces or [self.unknown]
        return tuple(pieces if len(pieces) <= MAX_PIECES else [*pieces[: MAX_PIECES - 1], pieces[-1]])

    def _pieces(self, part: str) -> list[int]:
        pieces: list[int] = []
        start = 0
        while start < len(part):
            mark = "##" if start else ""
            ends = range(len(part), start, -1)
            end = next((end for end in ends if mark + part[start:end] in self._ids), 0)
            if not end:
                return [self.unknown]
            pieces.append(self._ids[mark + part[start:end]])
            start = end
        return pieces


def _parts(word: str) -> list[str]:
    """Runs of letters and digits, and each other character by itself."""
    parts: list[str] = []
    joins = False
    for character in word:
        if joins and character.isalnum():
            parts[-1] += character
        else:
            parts.append(character)
        joins = character.isalnum()
    return parts


@lru_cache(maxsize=200_000)
def shape_of(word: str) -> int:
    """The index of a word's shape: its use of capitals, and whether it is a common word in lower case."""
    return _capitals(word) + len(SHAPES) * is_common_word(word.lower())


def _capitals(word: str) -> int:
    if word.islower():
        return 0
    if word[:1].isupper():
        if len(word) == 1:
            return 3
        rest = word[1:]
        return 1 if rest.islower() or not any(map(str.isalpha, rest)) else 2 if word.isupper() else 4
    return 4 if any(map(str.isupper, word)) else 5 if word[:1].isdigit() else 6
