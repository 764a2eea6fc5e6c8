"""Texts that nobody who reads them prefers, as the BWB study made them: words or sentences out of order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import Literal, TypeAlias, TypeVar

from ape.text.sentences import split_sentences
from ape.text.tokens import tokens, words

ShuffleUnit: TypeAlias = Literal["words", "sentences"]
_Piece = TypeVar("_Piece")
# Of the words, this share stays in place at the beginning and at the end.
_KEPT = 0.1


def shuffle_text(paragraphs: Sequence[str], rng: Random, *, shuffle: ShuffleUnit) -> tuple[str, ...] | None:
    """A copy out of order, in as many paragraphs; None where the text is too short to be spoilt.

    All sentences but the first and the last, or all words but a tenth at the beginning and the end of each paragraph. A
    text of few sentences has its words shuffled.
    """
    made = _sentences(paragraphs, rng) if shuffle == "sentences" else None
    if made is None:
        made = tuple(_words(text, rng) for text in paragraphs)
    return made if _letters(made) != _letters(paragraphs) else None


def _letters(paragraphs: Sequence[str]) -> list[list[str]]:
    return [text.split() for text in paragraphs]


def _sentences(paragraphs: Sequence[str], rng: Random) -> tuple[str, ...] | None:
    parted = [split_sentences(text) for text in paragraphs]
    every = [sentence for sentences in parted for sentence in sentences]
    gap = " " if any(sentence != sentence.rstrip() for sentence in every) else ""
    middle = [sentence.strip() for sentence in every[1:-1]]
    if len(set(middle)) < 2:
        return None
    mixed = [every[0].strip(), *_mixed(middle, rng), every[-1].strip()]
    ends = list(accumulate(map(len, parted)))
    return tuple(
        gap.join(mixed[end - len(sentences) : end]) for sentences, end in zip(parted, ends, strict=True)
    )


def _words(text: str, rng: Random) -> str:
    spaced = text.split()
    # Where words have no spaces between them, as in Chinese, there are far more words than pieces.
    apart = 2 * len(spaced) >= len(words(text))
    pieces, gap = (spaced, " ") if apart else (tokens(text), "")
    edge = max(1, round(_KEPT * len(pieces)))
    middle = pieces[edge:-edge]
    if len(set(middle)) < 2:
        return text
    return gap.join([*pieces[:edge], *_mixed(middle, rng), *pieces[-edge:]])


def _mixed(pieces: Sequence[_Piece], rng: Random) -> list[_Piece]:
    """In another order. There are two different ones among them, so some order is."""
    mixed = list(pieces)
    while mixed == list(pieces):
        rng.shuffle(mixed)
    return mixed
