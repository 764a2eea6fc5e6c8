"""The set of a comparison: its paragraphs, and the MT from which all systems start.

The unchanged MT is always among the systems, as the baseline.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from ape.errors import InputError
from ape.files.hashing import hash_text
from eval.corpus.corpus import Corpus, Document

DO_NOTHING = "do-nothing"
# Usual names of the MT.
_USUAL = (DO_NOTHING, "mt", "MT", "gt")


@dataclass(frozen=True, slots=True)
class ComparisonSet:
    """A corpus with the MT as its only system, and the texts of the other systems of the set."""

    corpus: Corpus
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Texts of all paragraphs by system, in reading order."""
    mt: str = DO_NOTHING
    """Name of the MT in the set."""

    @property
    def mt_texts(self) -> tuple[str, ...]:
        """The MT of every paragraph, in reading order."""
        return system_texts(self.corpus, DO_NOTHING)

    @property
    def ids(self) -> tuple[str, ...]:
        """Id of every paragraph: its document and its number there."""
        return tuple(f"{document.id}:{place + 1}" for _, document, place in self.corpus.segments())

    @property
    def digest(self) -> str:
        """Hash of sources, MT and references."""
        values = [_hashed_values(document) for document in self.corpus.documents]
        return hash_text(json.dumps(values, ensure_ascii=False), errors="replace")

    def by_document(self, texts: Sequence[str]) -> list[list[str]]:
        """Split texts of all paragraphs into documents."""
        rest = iter(texts)
        return [[next(rest) for _ in range(len(one))] for one in self.corpus.documents]


def build_comparison_set(corpus: Corpus, mt: str = "", *, added: Collection[str] = ()) -> ComparisonSet:
    """Build the set with system `mt` as the MT; by default the one with a usual name, or the only one.

    Systems `added` to the set are never the MT unless named.
    """
    name = mt if mt in corpus.systems else _find_mt([system for system in corpus.systems if system not in added], mt)
    documents = tuple(replace(one, outputs={DO_NOTHING: one.outputs[name]}) for one in corpus.documents)
    others = {other: system_texts(corpus, other) for other in corpus.systems if other != name}
    return ComparisonSet(replace(corpus, documents=documents), others, name)


def system_texts(corpus: Corpus, system: str) -> tuple[str, ...]:
    """The texts of a system, document after document."""
    return tuple(chain.from_iterable(one.outputs[system] for one in corpus.documents))


def _find_mt(systems: Sequence[str], name: str) -> str:
    if not systems:
        raise InputError("The set has no MT. Give it as a file: @FILE.", field="mt")
    listed = ", ".join(systems)
    if name:
        raise InputError(f"The set has no system {name!r} to use as the MT. It has: {listed}.", field="mt")
    usual = [known for known in _USUAL if known in systems] or (systems if len(systems) == 1 else [])
    if usual:
        return usual[0]
    raise InputError(f"The set does not say which system is the MT. Choose one of: {listed}.", field="mt")


def _hashed_values(document: Document) -> list[object]:
    return [document.id, document.sources, document.references, document.outputs[DO_NOTHING]]
