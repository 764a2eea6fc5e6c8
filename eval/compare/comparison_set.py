"""The set that systems are compared over: its paragraphs, and which of its texts is the MT that all of them start from.

The MT as it was is a system too, and always there: whoever does not beat it should have left it alone.
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
# What the MT is called where nobody says.
_USUAL = (DO_NOTHING, "mt", "MT", "gt")


@dataclass(frozen=True, slots=True)
class ComparisonSet:
    """A corpus whose one system is the MT; the other systems that were in the set lie beside it."""

    corpus: Corpus
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By name, all paragraphs in reading order."""
    mt: str = DO_NOTHING
    """What the MT was called in the set."""

    @property
    def mts(self) -> tuple[str, ...]:
        """The MT of every paragraph, in reading order."""
        return system_texts(self.corpus, DO_NOTHING)

    @property
    def ids(self) -> tuple[str, ...]:
        """The name of every paragraph: its document, and its number there."""
        return tuple(f"{one.id}:{place + 1}" for one in self.corpus.documents for place in range(len(one)))

    @property
    def digest(self) -> str:
        """A hash of all that a system is given and is held against."""
        values = [_told(one) for one in self.corpus.documents]
        return hash_text(json.dumps(values, ensure_ascii=False), errors="replace")

    def by_document(self, texts: Sequence[str]) -> list[list[str]]:
        """Texts of all paragraphs, parted into documents."""
        rest = iter(texts)
        return [[next(rest) for _ in range(len(one))] for one in self.corpus.documents]


def build_comparison_set(corpus: Corpus, mt: str = "", *, added: Collection[str] = ()) -> ComparisonSet:
    """The set, with the system of that name as the MT; the usual or the only one where none is named.

    Systems that were `added` to the set are candidates: none of them is the MT unless it is named.
    """
    name = mt if mt in corpus.systems else _mt_of([one for one in corpus.systems if one not in added], mt)
    documents = tuple(replace(one, outputs={DO_NOTHING: one.outputs[name]}) for one in corpus.documents)
    others = {other: system_texts(corpus, other) for other in corpus.systems if other != name}
    return ComparisonSet(replace(corpus, documents=documents), others, name)


def system_texts(corpus: Corpus, system: str) -> tuple[str, ...]:
    """The texts of a system, document after document."""
    return tuple(chain.from_iterable(one.outputs[system] for one in corpus.documents))


def _mt_of(known: Sequence[str], wanted: str) -> str:
    if not known:
        raise InputError("The set has no system to be the MT. Give it with --mt @FILE.", field="mt")
    told = ", ".join(known)
    if wanted:
        raise InputError(
            f"There is no system called {wanted!r} in the set to be the MT. There is: {told}.", field="mt"
        )
    usual = [name for name in _USUAL if name in known] or (known if len(known) == 1 else [])
    if usual:
        return usual[0]
    raise InputError(
        f"Which of these is the MT that the others start from: {told}? Say it with --mt NAME.", field="mt"
    )


def _told(document: Document) -> list[object]:
    return [document.id, document.sources, document.references, document.outputs[DO_NOTHING]]
