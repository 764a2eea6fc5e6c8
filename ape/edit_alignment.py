"""Which words of a post-edit stand where which words of the MT stood: two texts as one row of paired cells.

A shortest edit script is not what a translator would mark: it keeps a chance "the" alive in the middle of a
rewritten clause, and it lumps neighbours together. So there are three steps. Match the words, by Levenshtein
distance. Clean up: slide an insertion to where a clause begins, and drop chance matches. Then cut what is
left between two matches into words that answer each other by their roles ("her bag" -> "his sack").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import regex
from rapidfuzz.distance import Levenshtein

from ape.lexicon import GROUPS, QUOTES, STOPS, Lexicon, Word, describe
from ape.words import is_word, tokens

_OPENERS = STOPS | QUOTES | frozenset(":—–([")

# A longer match is no accident.
_LONGEST_CHANCE = 3
# Beyond it, which word answers which is guesswork, and the work would grow with the square.
_LONGEST_PHRASE = 40
# How far two words of one role may stand from the same place in their phrases.
_DRIFT = 2
_LONGEST_SLIDE = 50


@dataclass(frozen=True)
class Cut:
    """A text and its tokens, without the spaces, and with where they start and end.

    `keys` are the tokens without regard to case and to the shape of an apostrophe. `starts` has one entry more,
    the end of the text.
    """

    text: str
    tokens: tuple[str, ...]
    keys: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The tokens as they are spelled somewhere in the text."""
        return frozenset(self.tokens)

    @cached_property
    def capitalised(self) -> frozenset[str]:
        """The keys of the words that have a capital somewhere within a sentence, without the 's of a genitive."""
        places = (place for place, token in enumerate(self.tokens) if token[0].isupper())
        return frozenset(self.keys[place].removesuffix("'s") for place in places if not self._opens(place))

    def _opens(self, place: int) -> bool:
        return place == 0 or self.tokens[place - 1] in _OPENERS or self.text[self.starts[place] - 1] == "\n"

    def between(self, start: int, end: int) -> str:
        """The text from token `start` up to token `end`, without the space around it."""
        return self.text[self.starts[start] : self.ends[end - 1]] if start < end else ""


class Cell(NamedTuple):
    """Tokens `a` to `a_end` of the MT and what stands for them: tokens `b` to `b_end` of the post-edit."""

    a: int
    a_end: int
    b: int
    b_end: int


class _Match(NamedTuple):
    """So many tokens in a row that have the same keys."""

    a: int
    b: int
    size: int


# Cutting is a third of the work, and a paragraph is cut for its edits and again for its edit rate.
@lru_cache(maxsize=8)
def cut(text: str, expression: regex.Pattern[str] | None = None) -> Cut:
    """The text in tokens; what the expression finds is one token."""
    parts = _with_expressions(text, expression) if expression else tokens(text)
    ends = accumulate(map(len, parts))
    spoken = [(part, end) for part, end in zip(parts, ends, strict=True) if not part.isspace()]
    words = tuple([part for part, _ in spoken])
    keys = tuple([word.casefold() for word in words])
    if "’" in text:
        keys = tuple([key.replace("’", "'") for key in keys])
    starts = [end - len(part) for part, end in spoken]
    return Cut(text, words, keys, (*starts, len(text)), tuple([end for _, end in spoken]))


def _with_expressions(text: str, expression: regex.Pattern[str]) -> list[str]:
    """Tokens, with the words we know of several characters kept whole: 他们 against 她们, 彼 against 彼女."""
    parts: list[str] = []
    for index, part in enumerate(expression.split(text)):
        parts.extend([part] if index % 2 else tokens(part))
    return parts


def align(mt: Cut, post_edit: Cut, lexicon: Lexicon) -> Iterator[Cell]:
    """Cells in order, covering both texts; a cell with the same words on both sides is no change."""
    aligner = _Aligner(mt, post_edit, lexicon)
    for before, after in pairwise(aligner.matches()):
        if before.size:
            yield Cell(before.a, before.a + before.size, before.b, before.b + before.size)
        hole = _hole(before, after)
        if hole.a < hole.a_end or hole.b < hole.b_end:
            yield from aligner.split(hole)


def _hole(before: _Match, after: _Match) -> Cell:
    return Cell(before.a + before.size, after.a, before.b + before.size, after.b)


def _length(hole: Cell) -> int:
    return max(hole.a_end - hole.a, hole.b_end - hole.b)


@dataclass(frozen=True, slots=True)
class _Aligner:
    mt: Cut
    post_edit: Cut
    lexicon: Lexicon

    def matches(self) -> list[_Match]:
        """What stays, with an empty match at both ends of the texts."""
        blocks = Levenshtein.editops(self.mt.keys, self.post_edit.keys).as_matching_blocks()
        found = [_Match(0, 0, 0), *(_Match(block.a, block.b, block.size) for block in blocks)]
        return self._without_chance(self._slid(found))

    def _slid(self, matches: list[_Match]) -> list[_Match]:
        """Of the places where an insertion or deletion gives the same text, take the one that reads best.

        "A cat. A [cow. A ]dog." is as short as "A cat. [A cow. ]A dog.", and worse.
        """
        result = matches[:1]
        for after in matches[1:]:
            before = result[-1]
            by = self._best_slide(before, after)
            result[-1] = before._replace(size=before.size + by) if by else before
            result.append(_Match(after.a + by, after.b + by, after.size - by) if by else after)
        return result

    def _best_slide(self, before: _Match, after: _Match) -> int:
        a, a_end, b, b_end = _hole(before, after)
        if a == a_end and b < b_end:
            return _best_slide(self.post_edit.tokens, b, b_end, _room(before, after))
        if b == b_end and a < a_end:
            return _best_slide(self.mt.tokens, a, a_end, _room(before, after))
        return 0

    def _without_chance(self, matches: list[_Match]) -> list[_Match]:
        """Drop chance matches. Each one dropped makes a larger change, so the one before it is seen again."""
        kept: list[_Match] = []
        for match in matches:
            kept.append(match)
            while len(kept) > 2 and self._is_chance(*kept[-3:]):
                del kept[-2]
        return kept

    def _is_chance(self, before: _Match, match: _Match, after: _Match) -> bool:
        if match.size > _LONGEST_CHANCE:
            return False
        left, right = _hole(before, match), _hole(match, after)
        reach = min(_length(left), _length(right))
        if reach == 0:
            return False
        if match.size <= reach and self._swap(left, right):
            return True
        words = self._words(self.mt, match.a, match.a + match.size)
        if match.size == 1 and words[0].character:
            return True
        return reach > 2 * match.size and all([word.light for word in words])

    def _swap(self, left: Cell, right: Cell) -> bool:
        """Whether the words lost on one side of a match come back on its other side, and nothing else changed."""
        lost = self.mt.keys[left.a : left.a_end] or self.mt.keys[right.a : right.a_end]
        gained = self.post_edit.keys[left.b : left.b_end] or self.post_edit.keys[right.b : right.b_end]
        return lost == gained and len(lost) == _length(left) == _length(right)

    def split(self, hole: Cell) -> list[Cell]:
        """A changed stretch cut into changes that a translator would mark one by one."""
        shorter = min(hole.a_end - hole.a, hole.b_end - hole.b)
        if shorter == 0 or not 1 < _length(hole) <= _LONGEST_PHRASE:
            return [hole]
        if sorted(self.mt.keys[hole.a : hole.a_end]) == sorted(self.post_edit.keys[hole.b : hole.b_end]):
            return [hole]
        cells: list[Cell] = []
        a, b = hole.a, hole.b
        for match in [*self._answering(hole), _Match(hole.a_end, hole.b_end, 0)]:
            cells += self._word_by_word(Cell(a, match.a, b, match.b))
            cells += _singly(match.a, match.b, match.size)
            a, b = match.a + match.size, match.b + match.size
        return self._with_auxiliaries(cells)

    def _answering(self, hole: Cell) -> Iterator[_Match]:
        """The words of a changed stretch that play one role on both sides, in about the same place."""
        roles = [word.role for word in self._words(self.mt, hole.a, hole.a_end)]
        others = [word.role for word in self._words(self.post_edit, hole.b, hole.b_end)]
        for block in Levenshtein.editops(roles, others).as_matching_blocks():
            drift = min(abs(block.a - block.b), abs(len(roles) - block.a - len(others) + block.b))
            a, b, size = hole.a + block.a, hole.b + block.b, block.size
            if size and drift <= _DRIFT and self.mt.keys[a : a + size] != self.post_edit.keys[b : b + size]:
                yield _Match(a, b, size)

    def _word_by_word(self, cell: Cell) -> Iterator[Cell]:
        """Up to three words that tell something, changed into as many: each of them is a change of its own."""
        for a, a_end, b, b_end in self._without_outer_marks(cell):
            size = a_end - a
            if 1 < size == b_end - b <= 3 and self._tell(self.mt, a, a_end) and self._tell(self.post_edit, b, b_end):
                yield from _singly(a, b, size)
            elif size or b < b_end:
                yield Cell(a, a_end, b, b_end)

    def _without_outer_marks(self, cell: Cell) -> list[Cell]:
        """Take off the marks with which only one side begins or ends: "door" -> "gate," is two changes."""
        a, a_end, b, b_end = cell
        was = [bool(word.parts) for word in self._words(self.mt, a, a_end)]
        now = [bool(word.parts) for word in self._words(self.post_edit, b, b_end)]
        if True not in was or True not in now or (all(was) and all(now)):
            return [cell]
        head, new_head = _only_one(was.index(True), now.index(True))
        tail, new_tail = _only_one(was[::-1].index(True), now[::-1].index(True))
        first = Cell(a, a + head, b, b + new_head)
        last = Cell(a_end - tail, a_end, b_end - new_tail, b_end)
        return [first, Cell(first.a_end, last.a, first.b_end, last.b), last]

    def _with_auxiliaries(self, cells: list[Cell]) -> list[Cell]:
        """Join "had" -> "" and "gone" -> "went": what happens to an auxiliary is a matter of its verb."""
        result: list[Cell] = []
        for cell in cells:
            if result and self._is_auxiliary(result[-1]) and self._is_verb(cell):
                helper = result.pop()
                result.append(Cell(helper.a, cell.a_end, helper.b, cell.b_end))
            else:
                result.append(cell)
        return result

    def _is_verb(self, cell: Cell) -> bool:
        if cell.a_end - cell.a != 1 or cell.b_end - cell.b != 1:
            return False
        role = describe(self.lexicon, self.mt.keys[cell.a]).role
        return role not in GROUPS and role == describe(self.lexicon, self.post_edit.keys[cell.b]).role

    def _is_auxiliary(self, cell: Cell) -> bool:
        keys = self.mt.keys[cell.a : cell.a_end] + self.post_edit.keys[cell.b : cell.b_end]
        return all([key in self.lexicon.auxiliaries or key == "to" for key in keys])

    def _tell(self, side: Cut, start: int, end: int) -> bool:
        words = self._words(side, start, end)
        return not any([word.light or word.character or not word.parts for word in words])

    def _words(self, side: Cut, start: int, end: int) -> list[Word]:
        return [describe(self.lexicon, key) for key in side.keys[start:end]]


def _singly(a: int, b: int, size: int) -> list[Cell]:
    return [Cell(a + n, a + n + 1, b + n, b + n + 1) for n in range(size)]


def _only_one(first: int, second: int) -> tuple[int, int]:
    return (0, 0) if first and second else (first, second)


def _room(before: _Match, after: _Match) -> tuple[int, int]:
    """How many tokens an insertion may slide to the left and to the right, to leave a match on both sides.

    At the start of the text no match need be left.
    """
    left = before.size if before.a == before.b == 0 else before.size - 1
    return min(left, _LONGEST_SLIDE), min(after.size - 1, _LONGEST_SLIDE)


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
    """How well a stretch of tokens begins and ends where a sentence or a clause does."""
    score = 3 * (start == 0 or words[start - 1] in STOPS) + 3 * (words[end - 1] in STOPS)
    return score + words[start][0].isupper() + (not is_word(words[end - 1])) + (not is_word(words[start]))
