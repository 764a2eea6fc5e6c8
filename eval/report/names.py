"""Names that a system renders in several ways: the worst of them, each rendering in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eval.ltcr.inconsistent import Inconsistency, Shown
from eval.ltcr.worst import inconsistent_names
from eval.metric import Mark, Metric
from eval.report.marked import Piece, pieces
from eval.scoring import Results


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendering, how often it is used, and the first sentence that has it."""

    words: str
    times: int
    segment: int
    source: tuple[Piece, ...]
    output: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Name:
    """A name of the source in one document, with all its renderings."""

    word: str
    document: str
    times: int
    renderings: tuple[Rendered, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """The worst names of one system."""

    system: str
    names: tuple[Name, ...]


def names(results: Results, metric: Metric) -> Iterator[Names]:
    """The worst of each system, as the page shows them; of nothing but a metric that lists inconsistent words."""
    for system, found in inconsistent_names(results, metric):
        yield Names(system, tuple(map(_name, found)))


def _name(one: Inconsistency) -> Name:
    renderings = tuple(
        _rendered(one, shown, times, group) for group, (shown, times) in enumerate(one.examples)
    )
    return Name(one.word, one.document, len(one.occurrences), renderings)


def _rendered(one: Inconsistency, shown: Shown, times: int, group: int) -> Rendered:
    """The commonest rendering is the one that the others depart from."""
    kind = "inconsistent" if group else "usual"
    source = Mark(one.document, shown.segment, "source", *shown.at, kind)
    output = [Mark(one.document, shown.segment, "output", *span, kind) for span in shown.spans]
    return Rendered(
        shown.rendering,
        times,
        shown.segment + 1,
        tuple(pieces(shown.source, [source])),
        tuple(pieces(shown.output, output)),
    )
