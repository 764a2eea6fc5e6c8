"""Split a changed phrase into words that correspond: "her bag" -> "his sack" is two changes, not one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from ape.text.lexicon import WORD_GROUPS, Lexicon, LexiconWord, describe_word

# In longer phrases the correspondence is guesswork, and the cost is quadratic.
_MAX_PHRASE = 40
# How far two words of one role may be from the same position in their phrases.
_MAX_DRIFT = 2


class AlignedCell(NamedTuple):
    """Tokens `a` to `a_end` of the MT and the corresponding tokens `b` to `b_end` of the post-edit."""

    a: int
    a_end: int
    b: int
    b_end: int


def split_phrase(was: tuple[str, ...], now: tuple[str, ...], lexicon: Lexicon) -> list[AlignedCell]:
    """Split a changed phrase, given by its keys, into the changes that a translator would mark separately."""
    if not was or not now or (len(was) == len(now) and (len(was) == 1 or sorted(was) == sorted(now))):
        return [AlignedCell(0, len(was), 0, len(now))]
    old = [describe_word(lexicon, key) for key in was]
    new = [describe_word(lexicon, key) for key in now]
    cells: list[AlignedCell] = []
    a = b = 0
    for match_a, match_b, size in _corresponding_runs(old, new):
        cells += _between(old, new, AlignedCell(a, match_a, b, match_b))
        cells += _one_by_one(match_a, match_b, size)
        a, b = match_a + size, match_b + size
    cells += _between(old, new, AlignedCell(a, len(old), b, len(new)))
    return _with_auxiliaries(cells, old, new)


def _corresponding_runs(old: list[LexiconWord], new: list[LexiconWord]) -> Iterator[tuple[int, int, int]]:
    """Yield runs of corresponding words, as start, start and length: sentence ends, and words of one role."""
    if {word.role for word in old}.isdisjoint([word.role for word in new]):
        return
    a = b = 0
    for a_end, b_end in _sentence_ends(old, new):
        yield from _of_one_role(old, new, AlignedCell(a, a_end, b, b_end))
        yield a_end, b_end, 1
        a, b = a_end + 1, b_end + 1
    yield from _of_one_role(old, new, AlignedCell(a, len(old), b, len(new)))


def _sentence_ends(old: list[LexiconWord], new: list[LexiconWord]) -> list[tuple[int, int]]:
    """The sentence ends in pairs, if both sides have the same number."""
    ends = [position for position, word in enumerate(old) if word.role == "stop"]
    new_ends = [position for position, word in enumerate(new) if word.role == "stop"]
    return list(zip(ends, new_ends, strict=True)) if len(ends) == len(new_ends) else []


def _of_one_role(old: list[LexiconWord], new: list[LexiconWord], cell: AlignedCell) -> Iterator[tuple[int, int, int]]:
    """The words of a cell with the same role at about the same position. Unchanged words match by chance."""
    a, a_end, b, b_end = cell
    if not a_end - a or not b_end - b or max(a_end - a, b_end - b) > _MAX_PHRASE:
        return
    roles = [word.role for word in old[a:a_end]]
    new_roles = [word.role for word in new[b:b_end]]
    for block in Levenshtein.editops(roles, new_roles).as_matching_blocks():
        drift = min(abs(block.a - block.b), abs(len(roles) - block.a - len(new_roles) + block.b))
        start, new_start, size = a + block.a, b + block.b, block.size
        if size and drift <= _MAX_DRIFT and old[start : start + size] != new[new_start : new_start + size]:
            yield start, new_start, size


def _between(old: list[LexiconWord], new: list[LexiconWord], cell: AlignedCell) -> Iterator[AlignedCell]:
    """Split the words between corresponding ones: marks apart, and two or three content words one by one."""
    for part in _separate_marks(old, new, cell):
        size = part.a_end - part.a
        if 1 < size == part.b_end - part.b <= 3 and _are_content(old[part.a : part.a_end] + new[part.b : part.b_end]):
            yield from _one_by_one(part.a, part.b, size)
        elif size or part.b < part.b_end:
            yield part


def _separate_marks(old: list[LexiconWord], new: list[LexiconWord], cell: AlignedCell) -> list[AlignedCell]:
    """Separate marks at which only one side begins or ends: "door" -> "gate," is two changes."""
    a, a_end, b, b_end = cell
    was = [word.is_word for word in old[a:a_end]]
    now = [word.is_word for word in new[b:b_end]]
    if True not in was or True not in now or (False not in was and False not in now):
        return [cell]
    head, new_head = _if_one_sided(was.index(True), now.index(True))
    tail, new_tail = _if_one_sided(was[::-1].index(True), now[::-1].index(True))
    first = AlignedCell(a, a + head, b, b + new_head)
    last = AlignedCell(a_end - tail, a_end, b_end - new_tail, b_end)
    return [first, AlignedCell(first.a_end, last.a, first.b_end, last.b), last]


def _if_one_sided(first: int, second: int) -> tuple[int, int]:
    return (0, 0) if first and second else (first, second)


def _are_content(words: list[LexiconWord]) -> bool:
    return not any(word.is_function_word or word.character or not word.is_word for word in words)


def _one_by_one(a: int, b: int, size: int) -> list[AlignedCell]:
    return [AlignedCell(a + n, a + n + 1, b + n, b + n + 1) for n in range(size)]


def _with_auxiliaries(cells: list[AlignedCell], old: list[LexiconWord], new: list[LexiconWord]) -> list[AlignedCell]:
    """Join the change of an auxiliary with that of its verb: "had" -> "" with "gone" -> "went"."""
    if len(cells) == 1 or True not in [word.auxiliary for word in old + new]:
        return cells
    result: list[AlignedCell] = []
    for cell in cells:
        if result and _is_verb(cell, old, new) and _is_auxiliary(result[-1], old, new):
            helper = result.pop()
            result.append(AlignedCell(helper.a, cell.a_end, helper.b, cell.b_end))
        else:
            result.append(cell)
    return result


def _is_verb(cell: AlignedCell, old: list[LexiconWord], new: list[LexiconWord]) -> bool:
    if cell.a_end - cell.a != 1 or cell.b_end - cell.b != 1:
        return False
    return old[cell.a].role == new[cell.b].role not in WORD_GROUPS


def _is_auxiliary(cell: AlignedCell, old: list[LexiconWord], new: list[LexiconWord]) -> bool:
    return all(word.auxiliary for word in old[cell.a : cell.a_end] + new[cell.b : cell.b_end])
