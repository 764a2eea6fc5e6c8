"""Names that a system renders in several ways: the worst of them, each rendering in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eval.metrics.ltcr.inconsistency import Inconsistency, RenderedOccurrence
from eval.metrics.ltcr.name_inconsistencies import inconsistent_names
from eval.metrics.metric import Mark, Metric
from eval.metrics.scoring import EvaluationResults
from eval.report.text_marks import ReportPiece, split_at_marks


@dataclass(frozen=True, slots=True)
class NameRendering:
    """A rendering, how often it is used, and the first sentence that has it."""

    words: str
    times: int
    segment: int
    source: tuple[ReportPiece, ...]
    output: tuple[ReportPiece, ...]


@dataclass(frozen=True, slots=True)
class InconsistentName:
    """A name of the source in one document, with all its renderings."""

    word: str
    document: str
    times: int
    renderings: tuple[NameRendering, ...]


@dataclass(frozen=True, slots=True)
class SystemInconsistentNames:
    """The worst names of one system."""

    system: str
    names: tuple[InconsistentName, ...]


def inconsistent_names_by_system(
    results: EvaluationResults, metric: Metric
) -> Iterator[SystemInconsistentNames]:
    """The worst of each system, as the page shows them; of nothing but a metric that lists inconsistent words."""
    for system, found in inconsistent_names(results, metric):
        yield SystemInconsistentNames(system, tuple(map(_name, found)))


def _name(one: Inconsistency) -> InconsistentName:
    renderings = tuple(
        _rendered(one, shown, times, group) for group, (shown, times) in enumerate(one.examples)
    )
    return InconsistentName(one.word, one.document, len(one.occurrences), renderings)


def _rendered(one: Inconsistency, shown: RenderedOccurrence, times: int, group: int) -> NameRendering:
    """The commonest rendering is the one that the others depart from."""
    kind = "inconsistent" if group else "usual"
    source = Mark(one.document, shown.segment, "source", *shown.at, kind)
    output = [Mark(one.document, shown.segment, "output", *span, kind) for span in shown.spans]
    return NameRendering(
        shown.rendering,
        times,
        shown.segment + 1,
        tuple(split_at_marks(shown.source, [source])),
        tuple(split_at_marks(shown.output, output)),
    )
