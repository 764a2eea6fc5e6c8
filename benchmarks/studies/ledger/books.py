"""The books that the ledger is measured on: web novels by system, and Candide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from pathlib import Path

import regex

from ape.ledger.build import build_ledger
from ape.ledger.entity import Ledger, LedgerParagraph
from ape.ledger.links import LedgerIndex
from ape.ledger.repair import LedgerRepair, repair_paragraph
from ape.text.sentences import split_sentences
from benchmarks.studies.corpora import candide_rows, fiction_rows

_WORD = regex.compile(r"\p{Latin}+")


@dataclass(frozen=True, slots=True)
class StudyBook:
    """Paired paragraphs of one book or chapter."""

    name: str
    source_language: str
    paragraphs: tuple[LedgerParagraph, ...]

    @property
    def words(self) -> int:
        """The words of the translation."""
        return sum(len(one.mt.split()) for one in self.paragraphs)

    def ledger(self, known: Ledger | None = None) -> Ledger:
        """The ledger of the book alone, or with what a person confirmed."""
        return _ledger(self, known)


@lru_cache(maxsize=64)
def _ledger(book: StudyBook, known: Ledger | None) -> Ledger:
    return build_ledger(book.paragraphs, source_language=book.source_language, target_language="en", known=known)


def make_book(name: str, language: str, sources: Sequence[str], texts: Sequence[str]) -> StudyBook:
    """A book of paired paragraphs."""
    pairs = enumerate(zip(sources, texts, strict=True))
    return StudyBook(name, language, tuple(LedgerParagraph(f"{number}", *pair) for number, pair in pairs))


def repair_book(book: StudyBook, ledger: Ledger) -> Iterator[tuple[LedgerParagraph, LedgerRepair]]:
    """Every paragraph with its repair."""
    index = LedgerIndex(ledger)
    for place, paragraph in enumerate(book.paragraphs):
        previous = book.paragraphs[max(0, place - 3) : place]
        yield paragraph, repair_paragraph(paragraph, index, previous=previous)


def fiction_books(data: Path) -> dict[str, list[StudyBook]]:
    """The chapters of web novels by system; each chapter is of another novel, so a book of its own."""
    books: dict[str, list[StudyBook]] = {}
    for number, row in enumerate(fiction_rows(data)):
        texts = {"reference": row["reference"], **row["systems"]}
        anchors = [" ".join(lines) for lines in zip(*texts.values(), strict=True)]
        for system, whole in row["document_systems"].items():
            texts[system] = divide_by_lines(whole, anchors)
        for system, lines in texts.items():
            books.setdefault(system, []).append(make_book(f"chapter {number}", "zh", row["source"], lines))
    return books


def candide_books(data: Path) -> dict[str, StudyBook]:
    """Candide by translation: Google's, and those of two people."""
    rows = candide_rows(data)
    sources = [row["src"] for row in rows]
    texts = {"gt": [row["gt"] for row in rows]}
    for name in rows[0]["human"]:
        texts[name] = [row["human"].get(name) or "" for row in rows]
    return {name: make_book(name, "fr", sources, lines) for name, lines in texts.items()}


def divide_by_lines(whole: str, anchors: Sequence[str]) -> list[str]:
    """A text divided as other translations of it are: each sentence goes to a line, in order, by shared words."""
    sentences = [one.strip() for part in regex.split(r"[\n\t]+", whole) for one in split_sentences(part) if one.strip()]
    lines = [set(_WORD.findall(anchor.lower())) for anchor in anchors]
    frequency = Counter(word for line in lines for word in line)
    weights = {word: log(1 + len(lines) / count) for word, count in frequency.items()}
    norms = [max(1.0, sum(weights[word] for word in line)) for line in lines]
    best = [0.0] * len(lines)
    choices: list[list[int]] = []
    for sentence in sentences:
        words = set(_WORD.findall(sentence.lower()))
        scores = [
            sum(weights[word] for word in words & line) / norm**0.5 for line, norm in zip(lines, norms, strict=True)
        ]
        row, came = [], []
        top = 0
        for place, score in enumerate(scores):
            if best[place] > best[top]:
                top = place
            row.append(best[top] + score)
            came.append(top)
        best = row
        choices.append(came)
    place = max(range(len(lines)), key=best.__getitem__) if lines else 0
    divided: list[list[str]] = [[] for _ in lines]
    for sentence, came in zip(reversed(sentences), reversed(choices), strict=True):
        divided[place].insert(0, sentence)
        place = came[place]
    return [" ".join(line) for line in divided]
