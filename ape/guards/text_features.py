"""Features of a text that the guards share, each computed on first use."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property, lru_cache
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import regex
from rapidfuzz.distance import Levenshtein

from ape.passage.segment import Draft, Segment
from ape.text import sentences
from ape.text.phonetics import phonetic_key

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
# The last alternative takes the text after the last word, so that it is not scanned twice.
_PIECE = regex.compile(
    rf"""
    ([^\p{{L}}\p{{M}}\p{{N}}]*+)
    (  [[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]++(?:['’\u200c\u200d][[\p{{L}}\p{{M}}]--[{_UNSPACED}]]++)*+
     | [{_UNSPACED}]\p{{M}}*+
     | \Z)
    """,
    regex.VERBOSE | regex.V1,
)
# The same, several times as fast, for Latin, Greek and Cyrillic letters without combining marks.
_PLAIN_PIECE = re.compile(r"([\W_]*)([^\W_]+(?:['’][^\W\d_]+)*|\Z)")
_NOT_PLAIN = re.compile("[\u0300-\u036f\u0483-\u0489\u0530-\u1dff\u200c\u200d\u20d0-\u20ff\u2c00-\U0010ffff]")
_TAG = regex.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
_UNSPACED_CHARACTER = regex.compile(f"[{_UNSPACED}]")
# A capital after one of these may only start a clause, so it is no evidence of a name.
_CLAUSE_START = regex.compile(r"[\"“”«»„‹›:;—–•*{「『\n…!?]|\s-+\s|\s['‘]|^['‘-]|\.\.")
_TITLE = 0.4

PlacedWord = tuple[str, str]
"""The text between the previous word and this one, and the word."""


class TextFeatures:
    """The features of one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def sentences(self) -> list[list[PlacedWord]]:
        """The words of each sentence that contains words."""
        text = _without_tags(self.text)
        pieces = _PLAIN_PIECE.findall if self._is_plain else _PIECE.findall
        found = []
        for part in sentences.split_sentences(text):
            words: list[PlacedWord] = pieces(part)
            while words and not words[-1][1]:
                words.pop()
            if words:
                found.append(words)
        return found

    @cached_property
    def _is_plain(self) -> bool:
        return _NOT_PLAIN.search(_without_tags(self.text)) is None

    @cached_property
    def surfaces(self) -> list[str]:
        """The words as written."""
        return [word for sentence in self.sentences for _, word in sentence]

    @cached_property
    def words(self) -> list[str]:
        """The words in lower case."""
        return list(map(str.lower, self.surfaces))

    @cached_property
    def counts(self) -> Counter[str]:
        """The frequency of each word, in lower case."""
        return Counter(self.words)

    def count(self, name: str) -> int:
        """The frequency of a lower-case name, with or without an English possessive ending."""
        count = self.counts.get
        return count(name, 0) + count(f"{name}'s", 0) + count(f"{name}’s", 0)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The distinct words in lower case, with and without an English possessive ending."""
        words = frozenset(self.words)
        if not ("'s" in self.text or "’s" in self.text):
            return words
        return words.union([word[:-2] for word in words if word.endswith(("'s", "’s"))])

    @cached_property
    def uncapitalised(self) -> frozenset[str]:
        """The words that occur in lower case somewhere, and so are not names."""
        return frozenset([surface for surface in set(self.surfaces) if surface[0].islower()])

    @cached_property
    def capitalised(self) -> list[int]:
        """The positions of the capitalised words."""
        return [position for position, surface in enumerate(self.surfaces) if surface[0].isupper()]

    @cached_property
    def phonetic_keys(self) -> dict[str, str]:
        """The distinct words in lower case, with their phonetic keys."""
        return {word: phonetic_key(word) for word in dict.fromkeys(self.words)}

    @cached_property
    def phrases(self) -> Counter[tuple[str, str, str]]:
        """The frequency of each run of three words."""
        words = self.words
        return Counter(zip(words, words[1:], words[2:], strict=False))

    @cached_property
    def capitals(self) -> dict[int, str]:
        """The likely names, by position: words with a capital that grammar does not require."""
        pieces = list(chain.from_iterable(self.sentences))
        starts = frozenset(self.sentence_starts)
        found = {}
        for position in self.capitalised:
            gap, word = pieces[position]
            if position not in starts and (gap == " " or not _CLAUSE_START.search(gap)):
                found[position] = base_form(word)
        return found

    @cached_property
    def is_title(self) -> bool:
        """Whether the text is in Title Case, so that capitals are no evidence of names."""
        return len(self.capitals) > _TITLE * len(self.words)

    @cached_property
    def sentence_starts(self) -> list[int]:
        """The position of the first word of each sentence."""
        return list(accumulate(map(len, self.sentences), initial=0))[:-1]

    @cached_property
    def unspaced(self) -> bool:
        """Whether the text is mostly in a script that puts no spaces between words."""
        if self._is_plain:
            return False
        return 2 * sum(map(bool, map(_UNSPACED_CHARACTER.match, self.surfaces))) > len(self.surfaces)

    @cached_property
    def units(self) -> list[list[str]]:
        """The content of each sentence: words, or pairs of characters in scripts without spaces."""
        bounds = pairwise([*self.sentence_starts, len(self.words)])
        lowered = [self.words[start:end] for start, end in bounds]
        if not self.unspaced:
            return lowered
        return [["".join(pair) for pair in pairwise(sentence)] or sentence for sentence in lowered]

    @cached_property
    def unit_counts(self) -> Counter[str]:
        """The number of sentences that contain each unit."""
        return Counter(chain.from_iterable(map(set, self.units)))

    def runs(self, length: int) -> set[tuple[str, ...]]:
        """All runs of `length` words."""
        return set(zip(*(self.words[start:] for start in range(length)), strict=False))


def base_form(word: str) -> str:
    """The word without an English possessive ending."""
    return word[:-2] if word[-2:] in ("'s", "’s") else word


def _without_tags(text: str) -> str:
    return _TAG.sub(" ", text) if "<" in text else text


# A separate cache, so that short fragments do not evict long texts: the terms of a glossary, which recur with every
# passage of a book, and the beginnings and ends of drafts.
@lru_cache(maxsize=500)
def lowercase_words(fragment: str) -> tuple[str, ...]:
    """The words of a fragment in lower case, as in `TextFeatures.words` but without splitting sentences."""
    text = _without_tags(fragment)
    pieces = (_PIECE if _NOT_PLAIN.search(text) else _PLAIN_PIECE).findall(text)
    return tuple([word.lower() for _, word in pieces if word])


# Small, since texts may be long: one check needs the passage, the draft and its context.
@lru_cache(maxsize=16)
def text_features(text: str) -> TextFeatures:
    """The features of a text, cached: all guards use the same three texts, and attempts share two of them."""
    return TextFeatures(text)


class WordStep(NamedTuple):
    """A span of MT words and the span of draft words that replaces it."""

    kind: str
    mt_start: int
    mt_end: int
    start: int
    end: int


@lru_cache(maxsize=4)
def word_steps(mt: str, draft: str) -> tuple[WordStep, ...]:
    """The word-level edit steps from the MT to the draft, equal spans included."""
    opcodes = Levenshtein.opcodes(text_features(mt).words, text_features(draft).words)
    return tuple(map(WordStep._make, opcodes.as_list()))


def passage_features(segment: Segment, draft: Draft) -> tuple[TextFeatures, TextFeatures, TextFeatures]:
    """The features of the source, the MT and the draft."""
    return text_features(segment.source), text_features(segment.mt), text_features(draft.text)
