"""Align the words of an MT and its post-edit into a sequence of paired cells.

A shortest edit script is not what a translator would mark: it keeps a "the" that matches by chance in a rewritten
clause, and may begin an insertion in the middle of a clause. So the words are matched by Levenshtein distance and the
result is cleaned up: insertions move to where they read best, and chance matches are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from ape.edits.phrases import AlignedCell, split_phrase
from ape.text.lexicon import QUOTES, STOPS, Lexicon, describe_word
from ape.text.tokens import is_word, split_pieces, split_tokens, tokens

_OPENERS = STOPS | QUOTES | frozenset(":—–([")

# A longer match is not due to chance.
_MAX_CHANCE_MATCH = 3
_MAX_SLIDE = 50


@dataclass(frozen=True)
class TokenizedText:
    """A text, its tokens without spaces, and their positions.

    `keys` are the tokens in folded case with straight apostrophes. `starts` has one more entry, the end of the text.
    """

    text: str
    tokens: tuple[str, ...]
    keys: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The distinct tokens as written."""
        return frozenset(self.tokens)

    @cached_property
    def capitalised(self) -> frozenset[str]:
        """The keys, without a genitive 's, of the words that are capitalised somewhere within a sentence."""
        positions = [position for position, token in enumerate(self.tokens) if token[0].isupper()]
        return frozenset(
            self.keys[position].removesuffix("'s") for position in positions if not self._begins_clause(position)
        )

    def _begins_clause(self, position: int) -> bool:
        return position == 0 or self.tokens[position - 1] in _OPENERS or self.text[self.starts[position] - 1] == "\n"

    def between(self, start: int, end: int) -> str:
        """The text from token `start` up to token `end`, without the surrounding space."""
        return self.text[self.starts[start] : self.ends[end - 1]] if start < end else ""


class _Match(NamedTuple):
    """A run of `size` tokens with the same keys in both texts."""

    a: int
    b: int
    size: int


# Tokenising is a third of the work, and a paragraph is tokenised for its edits and again for its edit rate.
@lru_cache(maxsize=8)
def tokenize_text(text: str, expression: re.Pattern[str] | None) -> TokenizedText:
    """Tokenise a text; each match of the expression is one token."""
    words, starts, ends = split_pieces(_with_expressions(text, expression)) if expression else split_tokens(text)
    keys = tuple(map(str.casefold, words))
    if "’" in text:
        keys = tuple([key.replace("’", "'") if "’" in key else key for key in keys])
    return TokenizedText(text, words, keys, (*starts, len(text)), tuple(ends))


def _with_expressions(text: str, expression: re.Pattern[str]) -> list[str]:
    """Tokenise, with known words of several characters as one token: 他们 against 她们, 彼 against 彼女."""
    parts: list[str] = []
    for index, part in enumerate(expression.split(text)):
        parts.extend([part] if index % 2 else tokens(part))
    return parts


def align_texts(mt: TokenizedText, post_edit: TokenizedText, lexicon: Lexicon) -> Iterator[AlignedCell]:
    """Yield the cells that cover both texts, in order; cells with the same words on both sides are unchanged."""
    for before, after in pairwise(_Matcher(mt, post_edit, lexicon).matches()):
        a, b = before.a + before.size, before.b + before.size
        if before.size:
            yield AlignedCell(before.a, a, before.b, b)
        was, now = after.a - a, after.b - b
        if not was or not now or was == now == 1:
            if was or now:
                yield AlignedCell(a, after.a, b, after.b)
        else:
            for start, end, new_start, new_end in split_phrase(
                mt.keys[a : after.a], post_edit.keys[b : after.b], lexicon
            ):
                yield AlignedCell(a + start, a + end, b + new_start, b + new_end)


def _gap(before: _Match, after: _Match) -> AlignedCell:
    return AlignedCell(before.a + before.size, after.a, before.b + before.size, after.b)


@dataclass(frozen=True, slots=True)
class _Matcher:
    mt: TokenizedText
    post_edit: TokenizedText
    lexicon: Lexicon

    def matches(self) -> list[_Match]:
        """The unchanged runs, with an empty match at both ends of the texts."""
        blocks = Levenshtein.editops(self.mt.keys, self.post_edit.keys).as_matching_blocks()
        found = [_Match(0, 0, 0), *(_Match(block.a, block.b, block.size) for block in blocks)]
        end = _Match(len(self.mt.keys), len(self.post_edit.keys), 0)
        return self._without_chance([*self._with_moved_insertions(found), end])

    def _with_moved_insertions(self, matches: list[_Match]) -> list[_Match]:
        """Move each insertion or deletion to where it reads best, among the places that give the same text.

        "A cat. A [cow. A ]dog." is as short as "A cat. [A cow. ]A dog." but reads worse.
        """
        result = matches[:1]
        for after in matches[1:]:
            before = result[-1]
            is_one_sided = before.a + before.size == after.a or before.b + before.size == after.b
            by = self._best_slide(before, after) if is_one_sided else 0
            if by:
                result[-1] = before._replace(size=before.size + by)
                after = _Match(after.a + by, after.b + by, after.size - by)
            result.append(after)
        return result

    def _best_slide(self, before: _Match, after: _Match) -> int:
        a, b = before.a + before.size, before.b + before.size
        if a == after.a and b < after.b:
            return _best_slide(self.post_edit.tokens, b, after.b, _room(before, after))
        if b == after.b and a < after.a:
            return _best_slide(self.mt.tokens, a, after.a, _room(before, after))
        return 0

    def _without_chance(self, matches: list[_Match]) -> list[_Match]:
        """Drop chance matches. Each drop enlarges a change, so the match before it is checked again."""
        kept: list[_Match] = []
        for match in matches:
            kept.append(match)
            while len(kept) > 2 and kept[-2].size <= _MAX_CHANCE_MATCH and self._is_chance(kept[-3], kept[-2], match):
                del kept[-2]
        return kept

    def _is_chance(self, before: _Match, match: _Match, after: _Match) -> bool:
        a, b, size = match
        left = max(a - before.a - before.size, b - before.b - before.size)
        right = max(after.a - a - size, after.b - b - size)
        if not left or not right:
            return False
        if left == right and self._are_swapped(_gap(before, match), _gap(match, after), length=left):
            return True
        if size == 1:
            word = describe_word(self.lexicon, self.mt.keys[a])
            return word.character or (word.is_function_word and left > 2 and right > 2)
        if min(left, right) <= 2 * size:
            return False
        return all(describe_word(self.lexicon, key).is_function_word for key in self.mt.keys[a : a + size])

    def _are_swapped(self, left: AlignedCell, right: AlignedCell, *, length: int) -> bool:
        """Whether the same words were removed on one side of a match and added on the other, and nothing else changed.

        Articles do not count, since they change on their own.
        """
        lost = self.mt.keys[left.a : left.a_end] or self.mt.keys[right.a : right.a_end]
        gained = self.post_edit.keys[left.b : left.b_end] or self.post_edit.keys[right.b : right.b_end]
        if lost != gained or len(lost) != length:
            return False
        return not self.lexicon.articles.issuperset(lost)


def _room(before: _Match, after: _Match) -> tuple[int, int]:
    """How many tokens an insertion may move to the left and to the right so that a match remains on both sides.

    At the start of the text no match needs to remain.
    """
    left = before.size if before.a == before.b == 0 else before.size - 1
    return min(left, _MAX_SLIDE), min(after.size - 1, _MAX_SLIDE)


def _best_slide(words: tuple[str, ...], start: int, end: int, room: tuple[int, int]) -> int:
    left = right = 0
    while left < room[0] and words[start - left - 1] == words[end - left - 1]:
        left += 1
    while right < room[1] and words[start + right] == words[end + right]:
        right += 1
    if not left and not right:
        return 0
    return max(range(-left, right + 1), key=lambda by: (_boundary(words, start + by, end + by), -abs(by)))


def _boundary(words: tuple[str, ...], start: int, end: int) -> int:
    """A score for how well a span of tokens coincides with a sentence or clause."""
    score = 3 * (start == 0 or words[start - 1] in STOPS) + 3 * (words[end - 1] in STOPS)
    return score + words[start][0].isupper() + (not is_word(words[end - 1])) + (not is_word(words[start]))
