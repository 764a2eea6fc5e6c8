"""Right, found and annotated items of a reading, for precision and recall."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TypeAlias

from eval.linguistics.literary.reading import WordsReading
from eval.linguistics.literary.training.examples import LabelledText

_TENSES = frozenset(("VBD", "VBN", "VBP", "VBZ", "VBG", "VB", "MD"))
ReadingCounts: TypeAlias = dict[str, tuple[int, int, int]]
"""By measure: right, found, annotated."""


def count_reading(counts: ReadingCounts, text: LabelledText, reading: WordsReading) -> None:
    """Add the counts of one text; spans must be equal, and types where the measure says so."""
    for name, annotated, found in _measures(text, reading):
        right, all_found, all_annotated = counts.get(name, (0, 0, 0))
        counts[name] = (right + len(annotated & found), all_found + len(found), all_annotated + len(annotated))


def _measures(text: LabelledText, reading: WordsReading) -> Iterator[tuple[str, set[Hashable], set[Hashable]]]:
    for label in ("PER", "FAC", "GPE", "LOC", "ORG", "VEH"):
        sides = (text.names, reading.names)
        annotated, found = ({span for span, its in side.items() if its == label} for side in sides)
        yield f"names {label}", set(annotated), set(found)
    mentions = text.mentions or {}
    yield "mentions", set(mentions), set(reading.mentions)
    yield "mentions, kind", set(mentions.items()), set(reading.mentions.items())
    kinds = (mentions, reading.mentions)
    common, found_common = ({item for item in side.items() if item[1].startswith("common")} for side in kinds)
    yield "common mentions", set(common), set(found_common)
    tags, found_tags = set(enumerate(text.tags)), set(enumerate(reading.tags))
    yield "tags", set(tags), set(found_tags)
    tense, found_tense = ({one for one in side if one[1] in _TENSES} for side in (tags, found_tags))
    yield "tense", set(tense), set(found_tense)


def describe_counts(counts: ReadingCounts) -> str:
    """A table with precision, recall and F1."""
    rows = [f"{'':16} {'number':>7} precision  recall      F1"]
    for name, (right, found, annotated) in counts.items():
        precision, recall = right / max(1, found), right / max(1, annotated)
        f1 = 2 * right / max(1, found + annotated)
        rows.append(f"{name:16} {annotated:7} {precision:9.3f} {recall:7.3f} {f1:7.3f}")
    return "\n".join(rows)
