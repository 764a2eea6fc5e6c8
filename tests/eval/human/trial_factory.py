"""Invented sets and trials for tests."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from eval.corpus.corpus import Corpus, Document
from eval.human.design import TrialDesign, make_trial
from eval.human.trial import Trial

_WORDS = (
    "harbour lamp bread widow ladder storm letter captain window river coat bell garden stone kitchen salt boat child "
    "road silence market glass winter song horse"
).split()


def a_text(key: str, *, sentences: int = 3) -> str:
    """A few sentences, determined by the key."""
    rng = Random(key)
    made = (" ".join(rng.sample(_WORDS, 6)).capitalize() + "." for _ in range(sentences))
    return " ".join(made)


def a_document(id: str, *, length: int = 12, systems: Sequence[str] = ("mt", "tuned"), book: str = "") -> Document:
    outputs = {name: tuple(a_text(f"{id}{name}{place}") for place in range(length)) for name in systems}
    sources = tuple(a_text(f"{id}source{place}") for place in range(length))
    references = (tuple(a_text(f"{id}human{place}") for place in range(length)),)
    return Document(id, outputs, references, sources, book)


def a_corpus(
    documents: int = 4, *, length: int = 12, systems: Sequence[str] = ("mt", "tuned"), books: Sequence[str] = ("",)
) -> Corpus:
    made = (
        a_document(f"d{number}", length=length, systems=systems, book=books[number % len(books)])
        for number in range(documents)
    )
    return Corpus(tuple(made), "fr", "en", "an invented set")


def a_trial(*, raters: Sequence[str] = ("anna", "ben"), design: TrialDesign | None = None, seed: int = 1) -> Trial:
    return make_trial(a_corpus(), seed=seed, design=design or TrialDesign(items=10), raters=raters)
