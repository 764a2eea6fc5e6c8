"""A small corpus and a metric with categories and marks, for the tests of the report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eval.corpus.corpus import Corpus, Document
from eval.metrics.metric import Mark
from eval.statistics.counts import FloatArray, MetricCounts, Unmeasured, ratio

_CLASSES = {"he": r"\b(?:he|him|his)\b", "she": r"\b(?:she|her|hers)\b", "ghost": r"\bboo\b"}


@dataclass(frozen=True, slots=True)
class Pronouns:
    """The share of the reference's pronouns that the output has, by gender."""

    name: str = "pronouns"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        rows, places = [], []
        for number, document in enumerate(corpus.documents):
            for segment, output in enumerate(document.outputs[system]):
                reference = document.references_of(segment)[0]
                expected = [len(re.findall(one, reference, re.I)) for one in _CLASSES.values()]
                given = [len(re.findall(one, output, re.I)) for one in _CLASSES.values()]
                rows.append([*map(min, expected, given), *expected])
                places.append(number)
        kinds = len(_CLASSES)

        def whole(sums: FloatArray) -> FloatArray:
            return 100 * ratio(sums[..., :kinds].sum(-1), sums[..., kinds:].sum(-1))

        def part(place: int, sums: FloatArray) -> FloatArray:
            return 100 * ratio(sums[..., place], sums[..., kinds + place])

        parts = {name: (lambda sums, at=at: part(at, sums)) for at, name in enumerate(_CLASSES)}
        return MetricCounts(np.array(rows, float), np.array(places), whole, "pronouns|v:0", parts=parts)

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        for document in corpus.documents:
            for segment, output in enumerate(document.outputs[system]):
                reference = document.references_of(segment)[0]
                for name, pattern in _CLASSES.items():
                    if not re.search(pattern, output, re.I):
                        for match in re.finditer(pattern, reference, re.I):
                            yield Mark(document.id, segment, "reference", *match.span(), "lost", name)
                    if not re.search(pattern, reference, re.I):
                        for match in re.finditer(pattern, output, re.I):
                            yield Mark(document.id, segment, "output", *match.span(), "added", name)


REFERENCES = (
    ("Anna opened the door and she saw him.", "He gave her the letter.", "She did not read it."),
    ("The captain was old, and his ship older.", "He sold her in spring.", "She sank in May."),
)
GOOD = (
    ("Anna opened the door, and she saw him.", "He gave her a letter.", "She did not read it."),
    ("The captain was old, and his ship was older.", "He sold her in spring.", "She sank in May."),
)
POOR = (
    ("Anna open door and he see him.", "It gave <b>him</b> the letter & left.", "It not read it."),
    ("The captain is old, and his ship more old.", "It sold it in spring.", "It sank in May."),
)
SOURCES = (("安娜开门。", "他给她信。", "她没有看。"), ("船长老了。", "春天卖了船。", "五月船沉了。"))


def corpus(times: int = 4) -> Corpus:
    """Two chapters, repeated."""
    return Corpus(
        tuple(
            Document(
                f"chapter {2 * time + at + 1}", {"<poor>": POOR[at], "good": GOOD[at]}, (REFERENCES[at],), SOURCES[at]
            )
            for time in range(times)
            for at in range(2)
        ),
        "zh",
        "en",
        name="Anna & the captain <script>alert(1)</script>",
    )
