"""Attention items: copies of a text with shuffled words or sentences, as in the BWB study."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import Literal, TypeAlias, TypeVar

from ape.text.sentences import split_sentences
from ape.text.tokens import tokens, words

ShuffleUnit: TypeAlias = Literal["words", "sentences"]
_Piece = TypeVar("_Piece")
# Share of words that stay in place at either end.
_EDGE_SHARE = 0.1


def shuffle_text(paragraphs: Sequence[str], rng: Random, *, shuffle: ShuffleUnit) -> tuple[str, ...] | None:
    """Shuffle a text, with the same number of paragraphs; None if it is too short.

    All sentences but the first and last, or all words but a tenth at either end of each paragraph. The words of a text
    with too few sentences are shuffled instead.
    """
    copy = _shuffle_sentences(paragraphs, rng) if shuffle == "sentences" else None
    if copy is None:
        copy = tuple(_shuffle_words(text, rng) for text in paragraphs)
    return copy if [text.split() for text in copy] != [text.split() for text in paragraphs] else None


def _shuffle_sentences(paragraphs: Sequence[str], rng: Random) -> tuple[str, ...] | None:
    parted = [split_sentences(text) for text in paragraphs]
    every = [sentence for sentences in parted for sentence in sentences]
    gap = " " if any(sentence != sentence.rstrip() for sentence in every) else ""
    middle = [sentence.strip() for sentence in every[1:-1]]
    if len(set(middle)) < 2:
        return None
    mixed = [every[0].strip(), *_permute(middle, rng), every[-1].strip()]
    ends = list(accumulate(map(len, parted)))
    return tuple(gap.join(mixed[end - len(sentences) : end]) for sentences, end in zip(parted, ends, strict=True))


def _shuffle_words(text: str, rng: Random) -> str:
    spaced = text.split()
    # In scripts without spaces, such as Chinese, there are far more words than space-separated pieces.
    apart = 2 * len(spaced) >= len(words(text))
    pieces, gap = (spaced, " ") if apart else (tokens(text), "")
    edge = max(1, round(_EDGE_SHARE * len(pieces)))
    middle = pieces[edge:-edge]
    if len(set(middle)) < 2:
        return text
    return gap.join([*pieces[:edge], *_permute(middle, rng), *pieces[-edge:]])


def _permute(pieces: Sequence[_Piece], rng: Random) -> list[_Piece]:
    """A different order; at least two pieces must differ."""
    mixed = list(pieces)
    while mixed == list(pieces):
        rng.shuffle(mixed)
    return mixed
