"""Which word of a translation belongs to which word of its source: what a metric may ask of a word aligner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

WordSequence: TypeAlias = Sequence[str]
Bitext: TypeAlias = Sequence[tuple[WordSequence, WordSequence]]
"""Sentences of source words, each with the words of its translation."""
WordLinks: TypeAlias = frozenset[tuple[int, int]]
"""Places of a source word and of a word of the translation, counted from 0."""


class WordAligner(Protocol):
    """Links the words of sentence pairs."""

    @property
    def name(self) -> str:
        """For signatures: whatever changes the links, "eflomal-2.0.0/samplers-3/seed-1/gdfa"."""

    def align(self, bitext: Bitext, *, extra: Bitext = ()) -> list[WordLinks]:
        """The links of each pair of `bitext`, in order; `extra` is more parallel text to learn from."""
