"""The word aligner protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

WordSequence: TypeAlias = Sequence[str]
Bitext: TypeAlias = Sequence[tuple[WordSequence, WordSequence]]
"""Sentences of source words, each with the words of its translation."""
WordLinks: TypeAlias = frozenset[tuple[int, int]]
"""Indices of a source word and a target word."""


class WordAligner(Protocol):
    """Links the words of sentence pairs."""

    @property
    def name(self) -> str:
        """For signatures, with everything that changes the links: "eflomal-2.0.0/samplers-3/seed-1/gdfa"."""

    def align(self, bitext: Bitext, *, extra: Bitext = ()) -> list[WordLinks]:
        """The links of each pair of `bitext`, in order; `extra` is further parallel text to learn from."""
