"""Word alignment by a multilingual encoder, as in awesome-align (Dou and Neubig 2021).

The words of both sides are embedded at a middle layer. A softmax over the similarities in each direction gives the
probability that two word pieces belong together; words are linked if two of their pieces are likely in both directions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ape.errors import InputError, ModelError
from ape.text.word_alignment.protocol import Bitext, WordLinks, WordSequence
from eval.statistics.counts import FloatArray

DEFAULT_MODEL = "aneuraz/awesome-align-with-co"
DEFAULT_LAYER = 8
MIN_PROBABILITY = 1e-3


@dataclass(frozen=True, slots=True)
class AwesomeAligner:
    """An encoder from a folder or the hub; nothing is learned from the texts."""

    model: str = DEFAULT_MODEL
    layer: int = DEFAULT_LAYER
    likely: float = MIN_PROBABILITY

    @property
    def name(self) -> str:
        """The name with model, layer and threshold."""
        return f"awesome-align/{self.model}/layer-{self.layer}/likely-{self.likely:g}"

    def align(self, bitext: Bitext, *, extra: Bitext = ()) -> list[WordLinks]:
        """The links of each pair; `extra` is ignored."""
        return [self._pair(source, target) for source, target in bitext]

    def _pair(self, source: WordSequence, target: WordSequence) -> WordLinks:
        if not source or not target:
            return frozenset()
        tokenizer, encoder = _load(self.model)
        sides = [_embed(words, tokenizer, encoder, self.layer) for words in (source, target)]
        (vectors, owners), (others, their_owners) = sides
        pieces = extract_links(vectors @ others.T, likely=self.likely)
        return frozenset((int(owners[i]), int(their_owners[j])) for i, j in pieces)


def extract_links(similarity: FloatArray, *, likely: float = MIN_PROBABILITY) -> Iterator[tuple[int, int]]:
    """The cells that are likely in their row and in their column."""
    both = np.minimum(_softmax(similarity, axis=1), _softmax(similarity, axis=0)) > likely
    return ((int(i), int(j)) for i, j in np.argwhere(both))


def _softmax(numbers: FloatArray, *, axis: int) -> FloatArray:
    powers = np.exp(numbers - numbers.max(axis=axis, keepdims=True))
    shares: FloatArray = powers / powers.sum(axis=axis, keepdims=True)
    return shares


def _embed(words: WordSequence, tokenizer: Any, encoder: Any, layer: int) -> tuple[FloatArray, NDArray[np.intp]]:
    """A vector for each word piece, and the index of its word."""
    import torch

    given = tokenizer(list(words), is_split_into_words=True, truncation=True, max_length=512, return_tensors="pt")
    owners: Sequence[int | None] = given.word_ids(0)
    with torch.no_grad():
        states = encoder(**given, output_hidden_states=True).hidden_states[layer][0]
    pieces = [place for place, owner in enumerate(owners) if owner is not None]
    vectors: FloatArray = states[pieces].double().numpy()
    return vectors, np.array([owners[place] for place in pieces], dtype=np.intp)


@lru_cache(maxsize=2)
def _load(model: str) -> tuple[Any, Any]:
    if find_spec("transformers") is None or find_spec("torch") is None:
        raise InputError(
            "awesome-align needs torch and transformers, which are not installed. Type: pip install 'ape-books[train]'"
        )
    from transformers import AutoModel, AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(model), AutoModel.from_pretrained(model).eval()
    except (OSError, ValueError) as error:
        raise ModelError(
            f"The encoder {model!r} can't be loaded: {error} Give the folder of an encoder on this machine."
        ) from error
