"""Readers for systems' outputs on a suite, and their scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ape.errors import InputError
from ape.text.languages import language_name
from eval.corpus.corpus import Corpus
from eval.corpus.raw_document import TextLines, join_lines
from eval.corpus.reader import read_output_lines
from eval.corpus.validation import detect_other_language
from eval.metrics.metric import Metric
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from eval.suites.suite import SuiteRow

REFERENCES_LABEL = "the references"
"""The name of the row with a suite's own references."""


def add_outputs(corpus: Corpus, systems: Mapping[str, Path]) -> Corpus:
    """Add the outputs in these files to the corpus."""
    lengths = [len(document) for document in corpus.documents]
    for name, path in systems.items():
        if name in corpus.systems:
            raise InputError(f"The system name {name!r} is reserved for a row of the suite.", field="system")
        parts = read_output_lines(path, lengths, whole="the suite")
        check_outputs(parts, corpus.target_language)
        corpus = corpus.with_system(name, [[text or "" for text in part.texts] for part in parts])
    return corpus


def check_outputs(parts: Sequence[TextLines], language: str) -> None:
    """Check that no line is empty and that the language is right."""
    for part in parts:
        for place, text in enumerate(part.texts):
            if not (text and text.strip()):
                raise InputError(f"{part.location(place)} is empty. Each segment needs its output.", field="system")
    whole = join_lines(parts)
    if found := detect_other_language(whole, language):
        raise InputError(
            f"{whole.location(0)}: the output seems to be {language_name(found)} from there on, and the suite is for "
            f"{language_name(language)}.",
            field="system",
        )


def score_system(corpus: Corpus, metric: Metric, system: str) -> Score | Unmeasured:
    """A system's score on the whole corpus."""
    counted = metric.count(corpus, system)
    return counted.score() if isinstance(counted, MetricCounts) else counted


def score_rows(
    corpus: Corpus, metrics: Mapping[str, Metric], systems: Iterable[str]
) -> tuple[list[SuiteRow], dict[str, str]]:
    """One row for each system with its score by each metric; and the signatures."""
    cells: dict[str, dict[str, float | None]] = {name: {} for name in systems}
    signatures = {}
    for column, metric in metrics.items():
        for name, row in cells.items():
            found = score_system(corpus, metric, name)
            row[column] = found.value if isinstance(found, Score) else None
            signatures[column] = found.signature
    return [SuiteRow(name, found) for name, found in cells.items()], signatures
