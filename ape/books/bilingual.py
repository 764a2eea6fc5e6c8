"""Documents in which source and translation alternate, paragraph by paragraph.

The two texts are distinguished by declared languages, by CSS classes, or by the detected language, in this order. The
evidence must be clear: two kinds of paragraphs that alternate and, unless languages are declared, are in two languages.
The source is the text in the caller's source language, the one with a class such as "source", the one without a
declared language, or the first one.

Where several source paragraphs precede one translation, their lengths decide whether it translates all of them or
whether some have no translation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from math import inf, log
from statistics import fmean, median
from typing import NamedTuple

from ape.books.markup.blocks import MarkupBlock
from ape.books.markup.xml_tokenizer import XmlElement
from ape.books.translation_units import local_name
from ape.text.inline_marks import strip_marks
from ape.text.languages import detect_language, language_code, script_counts
from ape.text.size import text_size

# Evidence required where the caller did not say that the book is bilingual.
MIN_PAIRS = 4
ALTERNATING_SHARE = 0.9
ALTERNATING_SHARE_BY_LANGUAGE = 0.8
COVERED_SHARE = 0.6
# Evidence required where the caller said so.
ALTERNATING_SHARE_IF_SURE = 0.5

NumberedBlock = tuple[int, MarkupBlock]


class BilingualPassage(NamedTuple):
    """A block to edit, its number in the document, and its source (None in monolingual documents)."""

    number: int
    block: MarkupBlock
    source: str | None
    skip: str


class UntranslatedBlock(NamedTuple):
    """A source block without a translation, and its number in the document."""

    number: int
    block: MarkupBlock


@dataclass(frozen=True, slots=True)
class BilingualLayout:
    """How to distinguish the two texts of a bilingual document.

    `key` returns what the blocks of one text share. Where `guessed`, it may return "", and alternation decides.
    `ratio` is the length of a translation relative to its source.
    """

    key: Callable[[MarkupBlock], str]
    source: str
    target: str
    source_first: bool
    guessed: bool
    source_language: str
    target_language: str
    ratio: float = 1.0

    def passages(self, blocks: Iterable[NumberedBlock]) -> Iterator[BilingualPassage]:
        """Translated blocks with their sources in order; blocks of neither text have a skip reason."""
        return (found for found in self._read(blocks) if isinstance(found, BilingualPassage))

    def untranslated(self, blocks: Iterable[NumberedBlock]) -> Iterator[UntranslatedBlock]:
        """Source blocks without a translation."""
        for found in self._read(blocks):
            if isinstance(found, UntranslatedBlock) and script_counts(strip_marks(found.block.text)):
                yield found

    def _read(self, blocks: Iterable[NumberedBlock]) -> Iterator[BilingualPassage | UntranslatedBlock]:
        sources: list[NumberedBlock] = []
        target: NumberedBlock | None = None
        others: list[BilingualPassage] = []
        for number, block, role in self._roles(blocks):
            if role == self.source:
                sources.append((number, block))
                if len(sources) > MAX_SOURCES:
                    # Limits memory in a chapter without a translation.
                    yield UntranslatedBlock(*sources.pop(0 if self.source_first else -1))
            elif role != self.target:
                others.append(BilingualPassage(number, block, "", SKIP_NEITHER))
            else:
                if self.source_first:
                    target = (number, block)
                yield from self._turn(target, sources, others)
                target, sources, others = None if self.source_first else (number, block), [], []
        yield from self._turn(target, sources, others)

    def _turn(
        self, target: NumberedBlock | None, sources: list[NumberedBlock], others: list[BilingualPassage]
    ) -> Iterator[BilingualPassage | UntranslatedBlock]:
        """A translation, the sources before or after it, and the blocks between."""
        own = self._sources_of(sources, target[1]) if target else []
        found = [_passage(*target, [block.text for _, block in own])] if target else []
        yield from (UntranslatedBlock(*source) for source in sources if source not in own)
        yield from (*others, *found) if self.source_first else (*found, *others)

    def _sources_of(self, sources: list[NumberedBlock], target: MarkupBlock) -> list[NumberedBlock]:
        """The sources that a block translates: the nearest, and more of them where the block is too long for one."""
        nearest = sources[::-1] if self.source_first else sources
        there = text_size(strip_marks(target.text)) + SLACK
        total, costs = 0.0, list[float]()
        for _, block in nearest:
            total += text_size(strip_marks(block.text))
            away = log(there / (self.ratio * total + SLACK))
            costs.append(0.5 * (away / LENGTH_SPREAD) ** 2 + MERGE_COST * len(costs))
        count = costs.index(min(costs)) + 1 if costs else 0
        return [source for source in sources if source in nearest[:count]]

    def _roles(self, blocks: Iterable[NumberedBlock]) -> Iterator[tuple[int, MarkupBlock, str]]:
        """Each block with its role. Blocks of unknown language get alternating roles where their number allows it."""
        first, second = (self.source, self.target) if self.source_first else (self.target, self.source)
        before, run = second, list[NumberedBlock]()
        for number, block in blocks:
            role = self.key(block)
            if role not in (self.source, self.target):
                run.append((number, block))
                continue
            yield from self._assign_roles(run, before, role)
            yield number, block, role
            before, run = role, []
        yield from self._assign_roles(run, before, first)

    def _assign_roles(
        self, run: list[NumberedBlock], before: str, after: str
    ) -> Iterator[tuple[int, MarkupBlock, str]]:
        with_words = (number for number, block in run if script_counts(strip_marks(block.text)))
        unknown = set(with_words) if self.guessed else set[int]()
        even = (len(unknown) % 2 == 0) == (before != after)
        role = before
        for number, block in run:
            if number in unknown and even:
                role = self.source if role == self.target else self.target
            yield number, block, role if number in unknown and even else ""


SKIP_NEITHER = "neither source nor translation"
SKIP_NO_SOURCE = "no source next to it"

# The standard deviation of a translation's log length around the expected one, and the log odds against a translation
# of two paragraphs, compared with a paragraph that was left untranslated.
LENGTH_SPREAD = 0.25
MERGE_COST = 1.0
# The most source paragraphs that one block may translate.
MAX_SOURCES = 12
# Added to sizes, so that a single letter matters little in the shortest texts.
SLACK = 10.0


def _passage(number: int, block: MarkupBlock, sources: list[str]) -> BilingualPassage:
    return BilingualPassage(number, block, " ".join(sources), "" if sources else SKIP_NO_SOURCE)


def find_layout(
    blocks: Sequence[MarkupBlock], *, source: str | None, target: str | None, sure: bool
) -> BilingualLayout | None:
    """Detect the layout from the first blocks; None where the document is not clearly bilingual."""
    for key, guessed, named in (
        (declared_language, False, True),
        (css_classes, False, False),
        (detect_block_language, True, False),
    ):
        if guessed and not sure and _in_one_language(blocks):
            return None
        found = _alternating_keys(
            blocks, key, ALTERNATING_SHARE_BY_LANGUAGE if guessed else ALTERNATING_SHARE, sure=sure, guessed=guessed
        )
        if not found:
            continue
        languages = {
            one: one if guessed or (named and one != NO_LANGUAGE) else _language(blocks, key, one) for one in found
        }
        first, second = _in_order(blocks, key, *found)
        if languages[first] != languages[second] and (named or all(languages.values())):
            signs = {one: _signs([block for block in blocks if key(block) == one]) for one in found}
            one = _source(
                first, second, languages, signs, source and language_code(source), target and language_code(target)
            )
            other = second if one == first else first
            ratio = _ratio(blocks, key, first, second)
            return BilingualLayout(
                key,
                one,
                other,
                one == first,
                guessed,
                languages[one],
                languages[other],
                ratio if one == first else 1 / ratio,
            )
    return None


PROBE_BLOCKS = 12
PROBE_MIN_CHARACTERS = 40  # UTF-8 bytes: Chinese needs fewer characters to be detected


def _in_one_language(blocks: Sequence[MarkupBlock]) -> bool:
    """Whether a few neighbours in the middle are in one language. A quick check, since detection is slow."""
    candidates = [block for block in blocks if len(block.text.encode()) >= PROBE_MIN_CHARACTERS]
    middle = len(candidates) // 2
    return (
        len(
            {detect_block_language(block) for block in candidates[max(0, middle - PROBE_BLOCKS // 2) :][:PROBE_BLOCKS]}
            - {""}
        )
        < 2
    )


NO_LANGUAGE = "none"


def declared_language(block: MarkupBlock) -> str:
    """The language that the mark-up states for a block."""
    for element in _enclosing_elements(block):
        if language := element.get("xml:lang") or element.get("lang"):
            return language_code(language)
    return NO_LANGUAGE


def _enclosing_elements(block: MarkupBlock) -> Iterator[XmlElement]:
    """The elements around a block, the innermost first, including an inline element that starts its text."""
    inner = next((token for token in block.tokens if token.kind != "text" or token.text.strip()), None)
    if inner and inner.kind == "start" and inner.element:
        yield inner.element
    yield from reversed(block.path)


def css_classes(block: MarkupBlock) -> str:
    """The CSS classes of a block and of its parent."""
    return " / ".join(element.get("class") for element in block.path[-2:])


def detect_block_language(block: MarkupBlock) -> str:
    """Detect the language of a block; "" if unknown."""
    return detect_language(strip_marks(block.text), default="")


def _alternating_keys(
    blocks: Sequence[MarkupBlock], key: Callable[[MarkupBlock], str], alternating: float, *, sure: bool, guessed: bool
) -> tuple[str, str] | None:
    """The two keys that alternate, or None."""
    keys = [one for block in blocks if (one := key(block)) or not guessed]
    common = Counter(keys).most_common(2)
    if len(common) < 2 or common[1][1] < (1 if sure else MIN_PAIRS):
        return None
    turns = [one for one in keys if one in (common[0][0], common[1][0])]
    changes = sum(one != other for one, other in pairwise(turns)) / (len(turns) - 1)
    two = common[0][0], common[1][0]
    if sure:
        return two if changes >= ALTERNATING_SHARE_IF_SURE else None
    return two if changes >= alternating and len(turns) >= COVERED_SHARE * len(keys) else None


def _language(blocks: Sequence[MarkupBlock], key: Callable[[MarkupBlock], str], one: str) -> str:
    """The language of the blocks with this key."""
    text = " ".join(strip_marks(block.text) for block in blocks if key(block) == one)
    return detect_language(text[:5000], default="")


def _in_order(
    blocks: Sequence[MarkupBlock], key: Callable[[MarkupBlock], str], one: str, other: str
) -> tuple[str, str]:
    """The key that comes first in a pair: lengths correlate within pairs, not between neighbouring pairs."""
    turns = [(found, len(block.text)) for block in blocks if (found := key(block)) in (one, other)]
    first = turns[0][0]
    second = other if first == one else one
    spread = {}
    for lead in (first, second):
        pairs = [(a[1], b[1]) for a, b in pairwise(turns) if a[0] == lead != b[0]]
        spread[lead] = _spread([log(max(a, 1) / max(b, 1)) for a, b in pairs])
    return (second, first) if spread[second] < CLOSER_RATIO * spread[first] else (first, second)


# Wrong pairs differ several times as much in length.
CLOSER_RATIO = 0.6


def _spread(values: list[float]) -> float:
    """Mean absolute deviation from the median; infinite where there are too few values."""
    if len(values) < MIN_PAIRS:
        return inf
    middle = median(values)
    return fmean(abs(value - middle) for value in values)


def _ratio(blocks: Sequence[MarkupBlock], key: Callable[[MarkupBlock], str], first: str, second: str) -> float:
    """Median length of the second of a pair relative to the first."""
    turns = [
        (found, text_size(strip_marks(block.text))) for block in blocks if (found := key(block)) in (first, second)
    ]
    ratios = [(b[1] + SLACK) / (a[1] + SLACK) for a, b in pairwise(turns) if a[0] == first != b[0]]
    return median(ratios) if ratios else 1.0


_SOURCE_CLASS = re.compile(r"(?<![a-z])(source|src|original|orig)(?![a-z])")
_TARGET_CLASS = re.compile(r"(?<![a-z])(target|tgt|translat[a-z]*|trans|tran|tr|tl|mt)(?![a-z])")
OWN_LANGUAGE = "a language of its own"


def _signs(blocks: Sequence[MarkupBlock]) -> set[str]:
    """Features that most of these blocks have: CSS classes, and a language declared for the block itself."""
    counts: Counter[str] = Counter()
    for block in blocks:
        near = [
            element
            for element in islice(_enclosing_elements(block), 3)
            if local_name(element.name) not in ("html", "body")
        ]
        counts.update({name.lower() for element in near for name in element.get("class").split()})
        counts[OWN_LANGUAGE] += any(element.get("xml:lang") or element.get("lang") for element in near)
    return {sign for sign, count in counts.items() if 2 * count > len(blocks)}


def _source(
    first: str,
    second: str,
    languages: Mapping[str, str],
    signs: Mapping[str, set[str]],
    source: str | None,
    target: str | None,
) -> str:
    """Decide which of the two keys is the source."""
    either = ((first, second), (second, first))
    for one, other in either:
        if languages[one] and (source == languages[one] or target == languages[other]):
            return one
    for one, other in either:
        if any(map(_SOURCE_CLASS.search, signs[one] - signs[other])) or any(
            map(_TARGET_CLASS.search, signs[other] - signs[one])
        ):
            return one
    # A translation that was added to a book declares its language; the source is left as it was.
    for one, other in either:
        if {OWN_LANGUAGE, languages[other]} & (signs[other] - signs[one]) and languages[one] not in signs[one]:
            return one
    return first
