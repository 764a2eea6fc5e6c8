"""A text read once for all guards: its words, sentences and capitals, each worked out when first asked for."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import regex
from rapidfuzz.distance import Levenshtein

from ape import sentences
from ape.segment import Draft, Segment

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
# The last alternative takes what follows the last word, so that no tail of marks is scanned twice.
_PIECE = regex.compile(
    rf"""
    ([^\p{{L}}\p{{M}}\p{{N}}]*+)
    (  [{_UNSPACED}]\p{{M}}*+
     | [[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]++(?:['’\u200c\u200d][[\p{{L}}\p{{M}}]--[{_UNSPACED}]]++)*+
     | \Z)
    """,
    regex.VERBOSE | regex.V1,
)
_TAG = regex.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
_UNSPACED_CHARACTER = regex.compile(f"[{_UNSPACED}]")
# After these a capital may be only the start of a clause, so it says nothing about names.
_CLAUSE_START = regex.compile(r"[\"“”«»„‹›:;—–•*{「『\n…!?]|\s-+\s|\s['‘]|^['‘-]|\.\.")


class Word(NamedTuple):
    """One word, and what stands between the word before and it."""

    text: str
    gap: str


class Reading:
    """What the guards want to know of a text."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def sentences(self) -> list[list[Word]]:
        """The words of each sentence that has any."""
        plain = _TAG.sub(" ", self.text) if "<" in self.text else self.text
        read = ([Word(word, gap) for gap, word in _PIECE.findall(piece) if word] for piece in sentences.split(plain))
        return [words for words in read if words]

    @cached_property
    def surfaces(self) -> list[str]:
        """The words as written."""
        return [word.text for sentence in self.sentences for word in sentence]

    @cached_property
    def words(self) -> list[str]:
        """The words in small letters."""
        return [surface.lower() for surface in self.surfaces]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The words in small letters, once each, with and without an English possessive ending."""
        return frozenset(self.words) | {base_form(word) for word in self.words if "'" in word or "’" in word}

    @cached_property
    def uncapitalised(self) -> frozenset[str]:
        """The words that the text writes with a small first letter somewhere: they are no names."""
        return frozenset(surface for surface in self.surfaces if surface[0].islower())

    @cached_property
    def capitals(self) -> dict[int, str]:
        """The words with a capital that grammar does not ask for, by position: the likely names."""
        found = {}
        position = 0
        for sentence in self.sentences:
            for number, word in enumerate(sentence):
                if number and word.text[0].isupper() and not _CLAUSE_START.search(word.gap):
                    found[position + number] = base_form(word.text)
            position += len(sentence)
        return found

    @cached_property
    def sentence_starts(self) -> list[int]:
        """The position of the first word of each sentence."""
        starts = [0]
        for sentence in self.sentences:
            starts.append(starts[-1] + len(sentence))
        return starts[:-1]

    @cached_property
    def unspaced(self) -> bool:
        """Whether the text is mostly in a script that puts no spaces between words."""
        surfaces = self.surfaces
        return 2 * sum(map(bool, map(_UNSPACED_CHARACTER.match, surfaces))) > len(surfaces)

    @cached_property
    def units(self) -> list[list[str]]:
        """What each sentence says, in pieces that carry meaning: words, or pairs of characters where words are not marked."""
        lowered = [[word.text.lower() for word in sentence] for sentence in self.sentences]
        if not self.unspaced:
            return lowered
        return [["".join(pair) for pair in pairwise(sentence)] or sentence for sentence in lowered]

    @cached_property
    def unit_counts(self) -> Counter[str]:
        """In how many sentences each unit stands."""
        return Counter(unit for units in self.units for unit in set(units))

    def runs(self, length: int) -> set[tuple[str, ...]]:
        """Every run of so many words."""
        return set(zip(*(self.words[start:] for start in range(length)), strict=False))


def base_form(word: str) -> str:
    """The word without an English possessive ending."""
    return word[:-2] if word[-2:] in ("'s", "’s") else word


@lru_cache(maxsize=256)
def read(text: str) -> Reading:
    """The reading of a text; kept, because every guard asks for the same three, and attempts share two of them."""
    return Reading(text)


class Step(NamedTuple):
    """A stretch of MT words and the stretch of draft words that stands for it."""

    kind: str
    mt_start: int
    mt_end: int
    start: int
    end: int


@lru_cache(maxsize=64)
def steps(mt: str, draft: str) -> tuple[Step, ...]:
    """The word-level edit steps from the MT to the draft, equal stretches included."""
    opcodes = Levenshtein.opcodes(read(mt).words, read(draft).words)
    return tuple(Step(op.tag, op.src_start, op.src_end, op.dest_start, op.dest_end) for op in opcodes)


def readings(segment: Segment, draft: Draft) -> tuple[Reading, Reading, Reading]:
    """The source, the MT and the draft, read."""
    return read(segment.source), read(segment.mt), read(draft.text)


def longest_repeat(words: list[str]) -> int:
    """How often the same word stands in a row, at most."""
    longest = run = 1 if words else 0
    for before, after in pairwise(words):
        run = run + 1 if before == after else 1
        longest = max(longest, run)
    return longest
