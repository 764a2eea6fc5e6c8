"""Accuracy of pairing source and MT paragraphs: `python -m benchmarks.studies.pairing --data DIR`.

Parallel texts are disturbed: on each side, random lines are merged, cut in two at the end of a sentence, or dropped. A
pair is right if it has exactly the source paragraphs that its MT shares lines with and, where a source paragraph had to
be divided between MT paragraphs, if the cut is where lines were merged. Human translations of Candide, which have other
paragraphs, are scored by agreement with PAR3's aligner.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import fmean
from typing import BinaryIO

from ape.books.book import NewText, Paragraph, UnicodeBook, WriteCounts
from ape.books.pairing.book_pairing import DOUBTFUL_CONFIDENCE, BookLanguages, BookPairing, ParagraphPair, pair_books
from ape.text import sentences
from benchmarks.studies.corpora import candide_rows, fiction_rows, mlqe_rows

DISTURBANCE_RATES = (0.0, 0.05, 0.1, 0.3)
CONFIDENCE_LEVELS = (0.0, 0.3, 0.5, 0.7, 0.9, 0.99, 1.01)
TRANSLATIONS = ("candide_henry_morley", "candide_robert_adams")


@dataclass(frozen=True, slots=True)
class DisturbedParagraph:
    """A disturbed paragraph, with the numbers of the original lines that it contains, whole or in part."""

    text: str
    lines: frozenset[int]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class MemoryBook(UnicodeBook):
    """A book in memory."""

    name: str
    listed: Sequence[Paragraph]
    language: str | None = None
    source_language: str | None = None
    bilingual: bool = False
    format: str = "list"

    @property
    def path(self) -> Path:
        """A name for messages, not a file."""
        return Path(self.name)

    def paragraphs(self) -> Iterator[Paragraph]:
        """All paragraphs."""
        return iter(self.listed)

    def write(self, out: BinaryIO, text_of: NewText) -> WriteCounts:
        """Not supported."""
        raise NotImplementedError


def make_memory_book(name: str, *chapters: Sequence[str], language: str | None = None) -> MemoryBook:
    """A book of these chapters, with ids like `name/0#3`."""
    paragraphs = [
        Paragraph(f"{name}/{number}#{place}", number, f"Chapter {number + 1}", text)
        for number, texts in enumerate(chapters)
        for place, text in enumerate(texts)
    ]
    return MemoryBook(name, paragraphs, language)


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """Outcome for an MT paragraph: confidence, whether the pair is right, and whether it has a source."""

    confidence: float
    right: bool
    paired: bool


Chapters = Sequence[tuple[Sequence[str], Sequence[str]]]


def disturb(texts: Sequence[str], *, chance: random.Random, rate: float, first: int = 0) -> list[DisturbedParagraph]:
    """Merge, cut or drop a share `rate` of the paragraphs, numbered from `first`."""
    lines: list[DisturbedParagraph] = []
    place = 0
    while place < len(texts):
        fate = chance.random() / rate if rate else 1.0
        text, here = texts[place], frozenset({first + place})
        pieces = sentences.split_sentences(text)
        place += 1
        if fate < 1 / 3 and place < len(texts):
            lines.append(DisturbedParagraph(f"{text} {texts[place]}", here | {first + place}))
            place += 1
        elif 1 / 3 <= fate < 2 / 3 and len(pieces) > 1:
            cut = chance.randrange(1, len(pieces))
            parts = ("".join(pieces[:cut]).strip(), "".join(pieces[cut:]).strip())
            lines.extend(DisturbedParagraph(part, here, whole=False) for part in parts)
        elif fate < 2 / 3 or fate >= 1:
            lines.append(DisturbedParagraph(text, here))
    return lines


def pair_disturbed(chapters: Chapters, languages: BookLanguages, *, rate: float, seed: int = 1) -> list[PairOutcome]:
    """Disturb both sides of a book, pair them, and score every MT paragraph that has or was given a source."""
    chance = random.Random(seed)  # a seeded sample, not a secret
    starts = list(accumulate((len(source) for source, _ in chapters), initial=0))
    ours, theirs = (
        [
            disturb(chapter[side], chance=chance, rate=rate, first=start)
            for chapter, start in zip(chapters, starts, strict=False)
        ]
        for side in (0, 1)
    )
    pairing = pair_books(_book("source", ours), _book("mt", theirs), languages=languages)
    return list(_scored(pairing, ours, theirs, [text for source, _ in chapters for text in source]))


def _book(name: str, chapters: Sequence[Sequence[DisturbedParagraph]]) -> MemoryBook:
    return make_memory_book(name, *([line.text for line in lines] for lines in chapters))


def _by_id(name: str, chapters: Sequence[Sequence[DisturbedParagraph]]) -> dict[str, DisturbedParagraph]:
    lines = [line for chapter in chapters for line in chapter]
    return {paragraph.id: line for paragraph, line in zip(_book(name, chapters).paragraphs(), lines, strict=True)}


def _scored(
    pairing: BookPairing,
    ours: Sequence[Sequence[DisturbedParagraph]],
    theirs: Sequence[Sequence[DisturbedParagraph]],
    texts: Sequence[str],
) -> Iterator[PairOutcome]:
    source, mt = _by_id("source", ours), _by_id("mt", theirs)
    having: dict[int, list[str]] = {}
    for name, line in source.items():
        for number in line.lines:
            having.setdefault(number, []).append(name)
    for pair in pairing.pairs():
        line = mt[pair.id]
        wanted = list(dict.fromkeys(name for number in sorted(line.lines) for name in having.get(number, ())))
        if wanted or pair.source:
            right = wanted == list(pair.source_ids) and _well_cut(pair, line, [source[name] for name in wanted], texts)
            yield PairOutcome(pair.confidence, right, bool(pair.source))


def _well_cut(
    pair: ParagraphPair, line: DisturbedParagraph, sources: Sequence[DisturbedParagraph], texts: Sequence[str]
) -> bool:
    """Whether the pair has the text of its lines only; unknown, and so true, if the MT was cut."""
    if not line.whole:
        return True
    there = frozenset().union(*(source.lines for source in sources))
    expected = " ".join(texts[number] for number in sorted(line.lines & there))
    return pair.source.split() == expected.split() or "".join(pair.source.split()) == "".join(expected.split())


# --- real texts --------------------------------------------------------------------------------------------------


def read_fiction(data: Path, system: str = "") -> list[tuple[list[str], list[str]]]:
    """Chapters of the web novels: Chinese with the English reference or a system's output."""
    return [(row["source"], row["systems"][system] if system else row["reference"]) for row in fiction_rows(data)]


def read_candide(data: Path) -> list[tuple[list[str], list[str]]]:
    """Candide in French with Google's English, as one chapter."""
    rows = candide_rows(data)
    return [([row["src"] for row in rows], [row["gt"] for row in rows])]


def read_mlqe(data: Path, pair: str) -> list[tuple[list[str], list[str]]]:
    """Sentences of an encyclopedia with their MT, as one chapter."""
    rows = mlqe_rows(data, pair)
    return [([row["source"] for row in rows], [row["mt"] for row in rows])]


def pair_translation(data: Path, translation: str) -> list[PairOutcome]:
    """Pair a human translation of Candide; right if PAR3's aligner gives the text to one of the pair's sources."""
    rows = candide_rows(data)
    raw = (data / "par3" / "candide_raw" / f"{translation}.txt").read_text(encoding="utf-8")
    texts = [line.strip() for line in raw.splitlines() if line.strip()]
    french = make_memory_book("french", [row["src"] for row in rows])
    pairing = pair_books(french, make_memory_book(translation, texts), languages=BookLanguages("fr", "en"))
    scored = []
    for pair in pairing.pairs():
        known = {f"french/0#{row['i']}" for row in rows if pair.mt in row["human"][translation]}
        if known:
            scored.append(PairOutcome(pair.confidence, not known.isdisjoint(pair.source_ids), bool(pair.source)))
    return scored


# --- the table ---------------------------------------------------------------------------------------------------


def format_accuracy(name: str, scored: Sequence[PairOutcome]) -> str:
    """Accuracy of all pairs, and of those that would be edited, on one line."""
    right = sum(row.right for row in scored)
    edited = [row for row in scored if row.paired and row.confidence >= DOUBTFUL_CONFIDENCE]
    rightly = sum(row.right for row in edited)
    return (
        f"{name:32} {len(scored):5} paragraphs, right {right / len(scored):6.1%};  not doubtful "
        f"{len(edited) / len(scored):6.1%}, of these right {rightly / max(len(edited), 1):6.1%}"
    )


def format_calibration(scored: Sequence[PairOutcome]) -> Iterator[str]:
    """Calibration: the share of right pairs by confidence."""
    for low, high in pairwise(CONFIDENCE_LEVELS):
        here = [row for row in scored if row.paired and low <= row.confidence < high]
        if here:
            mean = fmean(row.confidence for row in here)
            share = fmean(row.right for row in here)
            yield f"  {low:.2f} to {min(high, 1):.2f}  {len(here):5} pairs, confidence {mean:.3f}, right {share:.3f}"


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    data: Path = options.data
    texts: list[tuple[str, Chapters, BookLanguages]] = [
        ("fiction, published English", read_fiction(data), BookLanguages("zh", "en")),
        ("fiction, an LLM", read_fiction(data, "base"), BookLanguages("zh", "en")),
        ("fiction without chapters", [_join_chapters(read_fiction(data, "base"))], BookLanguages("zh", "en")),
        ("Candide, Google", read_candide(data), BookLanguages("fr", "en")),
        ("encyclopedia ru-en", read_mlqe(data, "ru-en"), BookLanguages("ru", "en")),
        ("encyclopedia en-zh", read_mlqe(data, "en-zh"), BookLanguages("en", "zh")),
    ]
    pooled: list[PairOutcome] = []
    for name, chapters, languages in texts:
        for rate in DISTURBANCE_RATES:
            scored = pair_disturbed(chapters, languages, rate=rate, seed=options.seed)
            pooled += scored
            _print_now(format_accuracy(f"{name}, {rate:.0%}", scored))
    for translation in TRANSLATIONS:
        _print_now(format_accuracy(translation, pair_translation(data, translation)))
    _print_now("Calibration of confidence, over all disturbed texts:", *format_calibration(pooled))


def _print_now(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


def _join_chapters(chapters: Chapters) -> tuple[list[str], list[str]]:
    return [text for source, _ in chapters for text in source], [text for _, mt in chapters for text in mt]


if __name__ == "__main__":
    main()
