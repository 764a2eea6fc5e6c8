"""Passages with human post-edits: MLQE-PE, PAR3's *Candide*, and joined neighbours."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import regex

from ape.passage.segment import Context, Segment
from benchmarks.studies.corpora import candide_path, candide_rows, mlqe_path, mlqe_rows

PAIRS = ("et-en", "ro-en", "ru-en")
OTHER_PAIRS = ("ne-en", "si-en", "en-de", "en-zh")


@dataclass(frozen=True, slots=True)
class HumanPostEdit:
    """A passage with its human post-edit."""

    id: str
    segment: Segment
    post_edit: str


def read_mlqe(data: Path, pair: str, split: str = "dev") -> list[HumanPostEdit]:
    """Read a language pair of MLQE-PE."""
    source_language, target_language = pair.split("-")
    return [
        HumanPostEdit(
            f"{pair}.{split}.{number}",
            Segment(row["source"], row["mt"], source_language, target_language),
            row["post_edit"].strip(),
        )
        for number, row in enumerate(mlqe_rows(data, pair, split))
    ]


def read_english_texts(data: Path) -> list[str]:
    """All English texts of MLQE-PE's train rows, to learn which words occur in lower case."""
    into = [row.post_edit for pair in (*PAIRS, "ne-en", "si-en") for row in read_mlqe(data, pair, "train")]
    return into + [row.segment.source for pair in ("en-de", "en-zh") for row in read_mlqe(data, pair, "train")]


def read_candide(data: Path) -> list[HumanPostEdit]:
    """Read PAR3's Candide, with each human translation of a paragraph as a post-edit of Google's MT.

    The context is the three paragraphs before, as in editing a book. Paragraphs to which PAR3's aligner gave text of
    the previous one are left out.
    """
    passages = []
    contexts: dict[str, list[Context]] = {}
    for row in candide_rows(data):
        for name, text in row["human"].items():
            human = _FOOTNOTE.sub("", text).strip()
            before = tuple(contexts.get(name, ())[-3:])
            if before and _overlap(before[-1].target, human):
                continue
            segment = Segment(row["src"], row["gt"], "fr", "en", before)
            passages.append(HumanPostEdit(f"{row['i']}.{name}", segment, human))
            contexts.setdefault(name, []).append(Context(row["src"], human))
    return passages


def _overlap(before: str, text: str, length: int = 10) -> bool:
    words = text.split()
    return any(" ".join(words[start : start + length]) in before for start in range(len(words) - length + 1))


# Footnote marks of the printed translations, attached to words.
_FOOTNOTE = regex.compile(r"(?<=[\p{L}\p{P}])\d{1,3}(?=[\s\p{P}]|$)|(?<=[.!?”\"])\s?a[a-z](?=\s|$)")


def join_neighbours(rows: Sequence[HumanPostEdit], seed: int = 1) -> list[HumanPostEdit]:
    """Pseudo-paragraphs: two to four neighbouring rows, joined."""
    chance = random.Random(seed)  # a seeded sample, not a secret
    joined = []
    start = 0
    while start < len(rows) - 1:
        group = rows[start : start + chance.randint(2, 4)]
        start += len(group)
        first = group[0].segment
        segment = Segment(
            " ".join(row.segment.source for row in group),
            " ".join(row.segment.mt for row in group),
            first.source_language,
            first.target_language,
        )
        joined.append(HumanPostEdit(group[0].id + "+", segment, " ".join(row.post_edit for row in group)))
    return joined


def missing_data(data: Path) -> str:
    """The first required file that the folder lacks; empty if there is none."""
    mlqe = [mlqe_path(data, pair, split) for pair in (*PAIRS, *OTHER_PAIRS) for split in ("dev", "train")]
    missing = (path for path in (*mlqe, candide_path(data)) if not path.is_file())
    return next((str(path.relative_to(data)) for path in missing), "")
