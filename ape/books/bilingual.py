"""Documents in which a source and its translation take turns, paragraph by paragraph.

They are told apart by the languages that the mark-up states, by classes, or by what the paragraphs are written in, in
this order. It takes clear evidence: two kinds of paragraphs that really alternate, and (but for stated languages)
are in two languages. Which one is the source is known by the caller's languages, by a class that says so, by being
the one without a language of its own, or by coming first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, log
from statistics import fmean, median
from typing import NamedTuple

from ape.books.marks import without_marks
from ape.books.markup.splice import Block
from ape.languages import code_of, detect, script_counts

# What a book must show before it is taken for a bilingual one that nobody said it is.
FEWEST_PAIRS = 4
ALTERNATING = 0.9
ALTERNATING_BY_LANGUAGE = 0.8
COVERED = 0.6
# And what one must show of which somebody said so.
ALTERNATING_IF_SURE = 0.5

Numbered = tuple[int, Block]


class Passage(NamedTuple):
    """A block to edit, its number in its document, and the source that stands beside it (None in other documents)."""

    number: int
    block: Block
    source: str | None
    skip: str


@dataclass(frozen=True, slots=True)
class Layout:
    """How a bilingual document tells its two texts apart.

    `key` gives what the blocks of a text have in common. Where `guessed`, it may not know ("") and the turns tell.
    """

    key: Callable[[Block], str]
    source: str
    target: str
    source_first: bool
    guessed: bool
    source_language: str
    target_language: str

    def passages(self, blocks: Iterable[Numbered]) -> Iterator[Passage]:
        """The translation with its sources, and what is neither, with why it is skipped; in order."""
        sources: list[str] = []
        waiting: list[Passage] = []
        for number, block, role in self._roles(blocks):
            if role == self.source:
                sources.append(block.text)
            elif role != self.target:
                waiting.append(Passage(number, block, "", NEITHER))
            elif self.source_first:
                yield from waiting
                yield _passage(number, block, sources)
                waiting, sources = [], []
            else:
                yield from _with_source(waiting, sources)
                waiting, sources = [Passage(number, block, None, "")], []
        yield from _with_source(waiting, sources)

    def _roles(self, blocks: Iterable[Numbered]) -> Iterator[tuple[int, Block, str]]:
        """Each block with the text it belongs to. Unknown ones are filled in by turns where that comes out even."""
        first, second = (self.source, self.target) if self.source_first else (self.target, self.source)
        before, run = second, list[Numbered]()
        for number, block in blocks:
            role = self.key(block)
            if role not in (self.source, self.target):
                run.append((number, block))
                continue
            yield from self._filled(run, before, role)
            yield number, block, role
            before, run = role, []
        yield from self._filled(run, before, first)

    def _filled(self, run: list[Numbered], before: str, after: str) -> Iterator[tuple[int, Block, str]]:
        with_words = (number for number, block in run if script_counts(without_marks(block.text)))
        unknown = set(with_words) if self.guessed else set[int]()
        even = (len(unknown) % 2 == 0) == (before != after)
        role = before
        for number, block in run:
            if number in unknown and even:
                role = self.source if role == self.target else self.target
            yield number, block, role if number in unknown and even else ""


NEITHER = "neither source nor translation"
ALONE = "no source beside it"


def _passage(number: int, block: Block, sources: list[str]) -> Passage:
    return Passage(number, block, " ".join(sources), "" if sources else ALONE)


def _with_source(waiting: list[Passage], sources: list[str]) -> Iterator[Passage]:
    for passage in waiting:
        yield passage if passage.source is not None else _passage(passage.number, passage.block, sources)


def find_layout(
    blocks: Sequence[Block], *, source: str | None, target: str | None, sure: bool
) -> Layout | None:
    """The layout by the first blocks of a document, or None where it is not bilingual, or not clearly so."""
    for key, guessed, named in ((stated, False, True), (classes, False, False), (written_in, True, False)):
        if guessed and not sure and _in_one_language(blocks):
            return None
        found = _two(
            blocks, key, ALTERNATING_BY_LANGUAGE if guessed else ALTERNATING, sure=sure, guessed=guessed
        )
        if not found:
            continue
        languages = {
            one: one if guessed or (named and one != NONE) else _language(blocks, key, one) for one in found
        }
        first, second = _in_order(blocks, key, *found)
        if languages[first] != languages[second] and (named or all(languages.values())):
            one = _source(first, second, languages, source and code_of(source), target and code_of(target))
            other = second if one == first else first
            return Layout(key, one, other, one == first, guessed, languages[one], languages[other])
    return None


PROBE = 12
LONG_ENOUGH = 40  # bytes: a Chinese sentence is shorter, and told sooner


def _in_one_language(blocks: Sequence[Block]) -> bool:
    """Whether some neighbours in the middle are: they are in two where two take turns. Detection is slow."""
    telling = [block for block in blocks if len(block.text.encode()) >= LONG_ENOUGH]
    middle = len(telling) // 2
    return len({written_in(block) for block in telling[max(0, middle - PROBE // 2) :][:PROBE]} - {""}) < 2


NONE = "none"


def stated(block: Block) -> str:
    """The language that the mark-up states for a block."""
    inner = next((token for token in block.tokens if token.kind != "text" or token.text.strip()), None)
    own = (inner.element,) if inner and inner.kind == "start" and inner.element else ()
    for element in (*own, *reversed(block.path)):
        if language := element.get("xml:lang") or element.get("lang"):
            return code_of(language)
    return NONE


def classes(block: Block) -> str:
    """The classes of a block and of what it stands in."""
    return " / ".join(element.get("class") for element in block.path[-2:])


def written_in(block: Block) -> str:
    """The language that a block is written in, "" where it can't be told."""
    return detect(without_marks(block.text), default="")


def _two(
    blocks: Sequence[Block], key: Callable[[Block], str], alternating: float, *, sure: bool, guessed: bool
) -> tuple[str, str] | None:
    """The two keys that take turns, if there are two that do."""
    keys = [one for block in blocks if (one := key(block)) or not guessed]
    common = Counter(keys).most_common(2)
    if len(common) < 2 or common[1][1] < (1 if sure else FEWEST_PAIRS):
        return None
    turns = [one for one in keys if one in (common[0][0], common[1][0])]
    changes = sum(one != other for one, other in pairwise(turns)) / (len(turns) - 1)
    two = common[0][0], common[1][0]
    if sure:
        return two if changes >= ALTERNATING_IF_SURE else None
    return two if changes >= alternating and len(turns) >= COVERED * len(keys) else None


def _language(blocks: Sequence[Block], key: Callable[[Block], str], one: str) -> str:
    """The language of the blocks with this key."""
    text = " ".join(without_marks(block.text) for block in blocks if key(block) == one)
    return detect(text[:5000], default="")


def _in_order(blocks: Sequence[Block], key: Callable[[Block], str], one: str, other: str) -> tuple[str, str]:
    """Which of the two comes first in a pair: a paragraph and its translation have like lengths, neighbours don't."""
    turns = [(found, len(block.text)) for block in blocks if (found := key(block)) in (one, other)]
    first = turns[0][0]
    second = other if first == one else one
    spread = {}
    for lead in (first, second):
        pairs = [(a[1], b[1]) for a, b in pairwise(turns) if a[0] == lead != b[0]]
        spread[lead] = _spread([log(max(a, 1) / max(b, 1)) for a, b in pairs])
    return (second, first) if spread[second] < SURELY_CLOSER * spread[first] else (first, second)


# Pairs taken the wrong way round differ several times as much in length.
SURELY_CLOSER = 0.6


def _spread(values: list[float]) -> float:
    """How far values are from the middle one; without end where there are too few to say."""
    return fmean(abs(value - median(values)) for value in values) if len(values) >= FEWEST_PAIRS else inf


_SOURCE_CLASS = re.compile(r"\b(source|src|original|orig)\b", re.IGNORECASE)
_TARGET_CLASS = re.compile(r"\b(target|tgt|translat\w*|trans)\b", re.IGNORECASE)


def _source(
    first: str, second: str, languages: Mapping[str, str], source: str | None, target: str | None
) -> str:
    """Which of the two is the source."""
    for one, other in ((first, second), (second, first)):
        if languages[one] and (source == languages[one] or target == languages[other]):
            return one
    for one, other in ((first, second), (second, first)):
        if other != NONE == one or _SOURCE_CLASS.search(one) or _TARGET_CLASS.search(other):
            return one
    return first
