"""A tiny language pair: an annotator that splits at spaces, and an aligner that looks words up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from ape.text.word_alignment.protocol import Bitext, WordLinks
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators.protocol import Annotation, Token
from eval.metrics.ltcr.metric import Ltcr

TAGS = {"诊所": "NN", "法官": "NN", "睡": "VV", "红": "VA", "三": "CD", "的": "DEG"}
DICTIONARY = {
    "诊所": {"clinic", "clinics", "surgery"},
    "法官": {"judge", "judges", "justice"},
    "睡": {"sleeps", "sleep", "dozes"},
    "红": {"red"},
    "三": {"three"},
    "的": {"the"},
}


@dataclass(frozen=True, slots=True)
class SpaceAnnotator:
    """Splits words at spaces."""

    name: str = "spaced"
    language: str = "zh"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        return [Annotation(tuple(_tokens(text))) for text in texts]


def _tokens(text: str) -> list[Token]:
    found, place = [], 0
    for word in text.split():
        place = text.index(word, place)
        found.append(Token(word, place, TAGS.get(word, "PU"), word))
        place += len(word)
    return found


@dataclass(frozen=True, slots=True)
class DictionaryAligner:
    """Links words by a dictionary, each to the first free word."""

    name: str = "looked-up"

    def align(self, bitext: Bitext, *, extra: Bitext = ()) -> list[WordLinks]:
        return [_links(source, target) for source, target in bitext]


def _links(source: Sequence[str], target: Sequence[str]) -> WordLinks:
    free, links = list(range(len(target))), set()
    for i, word in enumerate(source):
        j = next((j for j in free if target[j].lower() in DICTIONARY.get(word, ())), None)
        if j is not None:
            free.remove(j)
            links.add((i, j))
    return frozenset(links)


@pytest.fixture
def ltcr() -> Ltcr:
    """L-All with both test doubles."""
    return Ltcr(annotator=SpaceAnnotator(), aligner=DictionaryAligner())


SOURCES = ("红 的 诊所", "诊所 睡", "法官 睡", "睡 。", "三", "三 诊所", "法官")
OUTPUT = ("the red clinic", "Clinics sleep.", "the judge sleeps", "dozes.", "three", "three at the surgery", "a Judge")


def corpus_of(*documents: tuple[Sequence[str], Sequence[str]]) -> Corpus:
    """Documents of sources and outputs, with the system called "s"."""
    return Corpus(
        tuple(
            Document(f"d{number}", {"s": tuple(outputs)}, sources=tuple(sources))
            for number, (sources, outputs) in enumerate(documents)
        ),
        "zh",
        "en",
    )


@pytest.fixture
def corpus() -> Corpus:
    """One document with a word translated in two ways (诊所) and another (睡), and two words translated alike."""
    return corpus_of((SOURCES, OUTPUT))
