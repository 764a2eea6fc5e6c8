"""Passages with what humans made of them: MLQE-PE's post-edits, PAR3's *Candide*, and neighbours joined."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import regex

from ape.passage.segment import Context, Segment

PAIRS = ("et-en", "ro-en", "ru-en")
OTHER_PAIRS = ("ne-en", "si-en", "en-de", "en-zh")


@dataclass(frozen=True, slots=True)
class HumanPostEdit:
    """A passage with its human post-edit."""

    id: str
    segment: Segment
    post_edit: str


def read_mlqe(data: Path, pair: str, split: str = "dev") -> list[HumanPostEdit]:
    """MLQE-PE's rows of a language pair, in their order."""
    source_language, target_language = pair.split("-")
    rows = []
    with (data / "mlqe_pe" / f"{pair}.{split}.jsonl").open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            segment = Segment(row["source"], row["mt"], source_language, target_language)
            rows.append(HumanPostEdit(f"{pair}.{split}.{number}", segment, row["post_edit"].strip()))
    return rows


def read_english_texts(data: Path) -> list[str]:
    """All English there is in MLQE-PE's train rows, to learn which words are ever written small."""
    into = [row.post_edit for pair in (*PAIRS, "ne-en", "si-en") for row in read_mlqe(data, pair, "train")]
    return into + [
        row.segment.source for pair in ("en-de", "en-zh") for row in read_mlqe(data, pair, "train")
    ]


def read_candide(data: Path) -> list[HumanPostEdit]:
    """PAR3's Candide: each human translation of a paragraph as if it were a post-edit of Google's.

    Each paragraph has the three before it as its context, as it has when a book is edited. Paragraphs that PAR3's
    aligner gave text of the one before are left out.
    """
    rows = []
    told: dict[str, list[Context]] = {}
    with (data / "par3" / "candide_fr.aligned.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            for name, text in row["human"].items():
                human = _FOOTNOTE.sub("", text).strip()
                before = tuple(told.get(name, ())[-3:])
                if before and _overlap(before[-1].target, human):
                    continue
                rows.append(
                    HumanPostEdit(
                        f"{row['i']}.{name}", Segment(row["src"], row["gt"], "fr", "en", before), human
                    )
                )
                told.setdefault(name, []).append(Context(row["src"], human))
    return rows


def _overlap(before: str, text: str, length: int = 10) -> bool:
    words = text.split()
    return any(" ".join(words[start : start + length]) in before for start in range(len(words) - length + 1))


# The printed translations' footnote marks, stuck to the words they stand at.
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
    """What the tables need and the folder lacks, or nothing."""
    needed = [
        f"mlqe_pe/{pair}.{split}.jsonl" for pair in (*PAIRS, *OTHER_PAIRS) for split in ("dev", "train")
    ]
    return next(
        (path for path in (*needed, "par3/candide_fr.aligned.jsonl") if not (data / path).is_file()), ""
    )
