"""Where the names of a ledger occur in a source text: longest match, whole words only.

A form inside another word is no hit: アメリ in アメリカ, あんな in あんなに, Anna in Annales.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from importlib.util import find_spec

import regex

from ape.ledger.source_names import is_chinese_word

_LETTER = regex.compile(r"[\p{L}\p{M}\p{N}]")
_KATAKANA = regex.compile(r"[\p{Katakana}ー]")
_HIRAGANA = regex.compile(r"\p{Hiragana}")
_HAN = regex.compile(r"\p{Han}")
# After a name in hiragana, only these show that the word has ended.
_AFTER_HIRAGANA = ("さん", "ちゃん", "くん", "さま", "は", "が", "を", "も")
# How far a dictionary word may reach beyond a Chinese form that it contains.
_REACH = 2


class FormFinder:
    """Finds forms in texts of one language; the cost of a text grows with its length, not with the number of forms."""

    def __init__(self, forms: Iterable[str], language: str) -> None:
        self.language = language
        self._known = frozenset(filter(None, forms))
        self._sorted = sorted(self._known)
        self._longest = max(map(len, self._sorted), default=0)
        self._firsts = frozenset(form[0] for form in self._sorted)
        # Of each form, the place of the longest other one that it begins with, or -1.
        self._beginnings: list[int] = []
        for place, form in enumerate(self._sorted):
            shorter = place - 1
            while shorter >= 0 and not form.startswith(self._sorted[shorter]):
                shorter = self._beginnings[shorter]
            self._beginnings.append(shorter)
        self._dictionary = language == "zh" and find_spec("jieba") is not None

    def find(self, source: str) -> Iterator[tuple[int, str]]:
        """Each form that occurs, with its place; no two overlap."""
        place = 0
        while place < len(source):
            form = next((one for one in self._forms_at(source, place) if self._is_here(source, place, one)), "")
            if form:
                yield place, form
            place += len(form) or 1

    def _forms_at(self, source: str, start: int) -> Iterator[str]:
        """The forms that the text has at this place, the longest first.

        Each of them begins the last form that is not after the text in the order of the alphabet, or is that form.
        """
        if source[start] not in self._firsts:
            return
        place = bisect_right(self._sorted, source[start : start + self._longest]) - 1
        while place >= 0:
            if source.startswith(self._sorted[place], start):
                yield self._sorted[place]
            place = self._beginnings[place]

    def _is_here(self, source: str, start: int, form: str) -> bool:
        """Whether a form that stands at this place is a word of its own there."""
        end = start + len(form)
        before, after = source[start - 1 : start], source[end : end + 1]
        if _KATAKANA.match(form[0]) or _KATAKANA.match(form[-1]):
            return not (_KATAKANA.match(before) or _KATAKANA.match(after))
        if _HIRAGANA.search(form):
            ends = not _HIRAGANA.match(after) or source.startswith(_AFTER_HIRAGANA, end)
            return ends and not _HIRAGANA.match(before)
        if _HAN.search(form):
            return not (self._dictionary and self._is_inside_word(source, start, end))
        return not (_LETTER.match(before) or _LETTER.match(after))

    def _is_inside_word(self, source: str, start: int, end: int) -> bool:
        for first in range(max(0, start - _REACH), start + 1):
            for last in range(end, min(len(source), end + _REACH) + 1):
                word = source[first:last]
                if len(word) > end - start and word not in self._known and is_chinese_word(word):
                    return True
        return False
