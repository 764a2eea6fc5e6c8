"""Names that a system translates inconsistently, with an example of each rendering."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from eval.corpus.corpus import Corpus
from eval.metrics.ltcr.inconsistency import Inconsistency, RenderedOccurrence
from eval.metrics.ltcr.name_inconsistencies import worst_names
from eval.metrics.metric import Mark, Metric, corpus_for_metric
from eval.metrics.scoring import EvaluationResults
from eval.report.text_marks import ReportPiece, split_at_marks
from eval.statistics.counts import Unmeasured

_Listing: TypeAlias = Callable[[Corpus, str], Sequence[Inconsistency]]


@dataclass(frozen=True, slots=True)
class NameRendering:
    """A rendering with its count and first sentence."""

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
    """The most inconsistent names of one system."""

    system: str
    names: tuple[InconsistentName, ...]


def inconsistent_names(results: EvaluationResults, metric: Metric) -> Iterator[tuple[str, list[Inconsistency]]]:
    """The worst inconsistencies of each system, for metrics that list them."""
    listing: _Listing | None = getattr(metric, "inconsistencies", None)
    if listing is None:
        return
    corpus = corpus_for_metric(metric, results.corpus)
    for system, counted in results.counted[metric.name].items():
        if not isinstance(counted, Unmeasured) and (found := worst_names(listing(corpus, system))):
            yield system, found


def inconsistent_name_rows(results: EvaluationResults, metric: Metric) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The same for JSON."""
    listing: Callable[[Corpus, str], list[dict[str, Any]]] | None = getattr(metric, "name_rows", None)
    if listing is None:
        return
    corpus = corpus_for_metric(metric, results.corpus)
    for system, counted in results.counted[metric.name].items():
        if not isinstance(counted, Unmeasured) and (found := listing(corpus, system)):
            yield system, found


def inconsistent_names_by_system(results: EvaluationResults, metric: Metric) -> Iterator[SystemInconsistentNames]:
    """The most inconsistent names of each system, for the page."""
    for system, found in inconsistent_names(results, metric):
        yield SystemInconsistentNames(system, tuple(map(_name, found)))


def _name(found: Inconsistency) -> InconsistentName:
    renderings = tuple(
        _rendering(found, example, times, group) for group, (example, times) in enumerate(found.examples)
    )
    return InconsistentName(found.word, found.document, len(found.occurrences), renderings)


def _rendering(found: Inconsistency, example: RenderedOccurrence, times: int, group: int) -> NameRendering:
    """The most frequent rendering is the reference for the others."""
    kind = "inconsistent" if group else "usual"
    source = Mark(found.document, example.segment, "source", *example.at, kind)
    output = [Mark(found.document, example.segment, "output", *span, kind) for span in example.spans]
    return NameRendering(
        example.rendering,
        times,
        example.segment + 1,
        tuple(split_at_marks(example.source, [source])),
        tuple(split_at_marks(example.output, output)),
    )
