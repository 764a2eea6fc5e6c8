"""Lexical chains: the occurrences of one source word in a document, by part of speech and by distance.

Either all content words that the source repeats (L-All), or those that people annotated as requiring one translation
(L-Anno; Lei et al. 2024), read from a file with their sentences and tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ape.errors import InputError
from ape.text.languages import language_code
from eval.linguistics.annotators.protocol import Token

CHAIN_CATEGORIES = ("noun", "verb", "adjective/adverb", "other")
CHAIN_DISTANCES = ("0", "1", "2", "3", "4", ">=5")
_OTHER = CHAIN_CATEGORIES.index("other")

# Words with other tags are not content words.
_TAGS: Mapping[str, Mapping[str, int]] = {
    "zh": dict.fromkeys(("NN", "NR", "NT"), 0)
    | dict.fromkeys(("VV", "VE", "VC"), 1)
    | dict.fromkeys(("VA", "AD"), 2)
    | dict.fromkeys(("JJ", "CD", "OD", "FW", "M"), _OTHER),
    "en": dict.fromkeys(("NN", "NNS", "NNP", "NNPS"), 0)
    | dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), 1)
    | dict.fromkeys(("JJ", "JJR", "JJS", "RB", "RBR", "RBS"), 2)
    | dict.fromkeys(("CD", "FW"), _OTHER),
}
LANGUAGES = tuple(_TAGS)


@dataclass(frozen=True, slots=True)
class LexicalChain:
    """A source word and its occurrences."""

    word: str
    places: tuple[tuple[int, int], ...]
    """Segment and token index of each occurrence."""
    category: int = _OTHER
    """One of the categories."""
    translation: str = ""
    """The annotated translation, if any."""

    def pairs(self) -> Iterator[tuple[int, int, int]]:
        """Every two occurrences, with their distance class."""
        for one, other in combinations(range(len(self.places)), 2):
            distance = abs(self.places[one][0] - self.places[other][0])
            yield one, other, min(distance, len(CHAIN_DISTANCES) - 1)


@dataclass(frozen=True, slots=True)
class AnnotatedChains:
    """The words of a document's source, and its chains."""

    words: tuple[tuple[str, ...], ...]
    chains: tuple[LexicalChain, ...]


def chain_category(tag: str, language: str) -> int | None:
    """The category of a treebank tag (Chinese or Penn); None if it has none."""
    return _TAGS[language_code(language)].get(tag)


def most_frequent_category(tags: Sequence[str], language: str) -> int:
    """The category of most tags."""
    found = Counter(_OTHER if (kind := chain_category(tag, language)) is None else kind for tag in tags)
    return min(found, key=lambda kind: (-found[kind], kind), default=_OTHER)


def repeated_word_chains(segments: Sequence[Sequence[Token]], language: str) -> list[LexicalChain]:
    """All content words that occur twice or more, by lemma, in the order of first occurrence."""
    places: dict[str, list[tuple[int, int]]] = {}
    for segment, tokens in enumerate(segments):
        for place, token in enumerate(tokens):
            if chain_category(token.tag, language) is not None:
                places.setdefault(token.lemma.lower(), []).append((segment, place))
    return [
        LexicalChain(word, tuple(found), most_frequent_category([segments[s][t].tag for s, t in found], language))
        for word, found in places.items()
        if len(found) > 1
    ]


# --- the annotated set ---------------------------------------------------------------------------------------------


class _ChainRow(BaseModel):
    model_config = ConfigDict(frozen=True)
    word: str
    translation: str = ""
    positions: tuple[tuple[int, int], ...]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True)
    id: str
    source_tokens: tuple[tuple[str, ...], ...]
    chains: tuple[_ChainRow, ...]


def read_annotated_chains(path: Path) -> dict[str, AnnotatedChains]:
    """Read the annotated documents of a JSONL file by id."""
    read = {}
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = _Row.model_validate_json(line)
            except ValidationError as error:
                raise InputError(f"{path}, line {number}: not a document with chains: {error}") from error
            chains = tuple(_chain(one, row, f"{path}, line {number}") for one in row.chains)
            read[row.id] = AnnotatedChains(row.source_tokens, chains)
    return read


def _chain(given: _ChainRow, row: _Row, where: str) -> LexicalChain:
    for segment, place in given.positions:
        here = row.source_tokens[segment] if 0 <= segment < len(row.source_tokens) else ()
        if not 0 <= place < len(here) or here[place] != given.word:
            raise InputError(f"{where}: the word {given.word!r} is not at sentence {segment}, token {place}.")
    return LexicalChain(given.word, given.positions, translation=given.translation)
