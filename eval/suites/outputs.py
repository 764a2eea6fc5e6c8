"""Systems' outputs for a suite: files with a line for each segment, and what becomes of them under the metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ape.errors import InputError
from ape.languages import name_of
from eval.corpus import Corpus
from eval.metric import Counted, Metric, Score, Unmeasured
from eval.reading.checks import other_language
from eval.reading.given import Lines, joined
from eval.reading.read import cut_lines
from eval.suites.suite import Row

REFERENCES = "the references"
"""The name of the row in which a suite scores its own references."""


def with_outputs(corpus: Corpus, systems: Mapping[str, Path]) -> Corpus:
    """The same with the outputs in these files."""
    lengths = [len(document) for document in corpus.documents]
    for name, path in systems.items():
        if name in corpus.systems:
            raise InputError(
                f"A system can't be called {name!r}: that row is the suite's own.", field="system"
            )
        parts = cut_lines(path, lengths, whole="the suite")
        check_outputs(parts, corpus.target_language)
        corpus = corpus.with_system(name, [[text or "" for text in part.texts] for part in parts])
    return corpus


def check_outputs(parts: Sequence[Lines], language: str) -> None:
    """No line is empty, and the whole is not in another language."""
    for part in parts:
        for place, text in enumerate(part.texts):
            if not (text and text.strip()):
                raise InputError(
                    f"{part.place(place)} is empty. Each segment needs its output.", field="system"
                )
    whole = joined(parts)
    if found := other_language(whole, language):
        raise InputError(
            f"{whole.place(0)}: the output seems to be {name_of(found)} from there on, and the suite is for "
            f"{name_of(language)}.",
            field="system",
        )


def scored(corpus: Corpus, metric: Metric, system: str) -> Score | Unmeasured:
    """A system's score of the whole corpus."""
    counted = metric.count(corpus, system)
    return counted.scored() if isinstance(counted, Counted) else counted


def rows_of(
    corpus: Corpus, metrics: Mapping[str, Metric], systems: Iterable[str]
) -> tuple[list[Row], dict[str, str]]:
    """A row of each system with its score by each metric, in its own column; and the signatures."""
    cells: dict[str, dict[str, float | None]] = {name: {} for name in systems}
    signatures = {}
    for column, metric in metrics.items():
        for name, row in cells.items():
            found = scored(corpus, metric, name)
            row[column] = found.value if isinstance(found, Score) else None
            signatures[column] = found.signature
    return [Row(name, found) for name, found in cells.items()], signatures
