"""Connectives of the references that a system lost, word by word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from eval.corpus.corpus import Corpus
from eval.metrics.dip.connectives import ConnectiveTally
from eval.metrics.metric import Metric
from eval.metrics.scoring import EvaluationResults
from eval.statistics.counts import Unmeasured

_Listing: TypeAlias = Callable[[Corpus, str], Mapping[str, ConnectiveTally]]

MOST_CONNECTIVES = 15
"""Number shown per system on the page; JSON has all."""


@dataclass(frozen=True, slots=True)
class LostConnectives:
    """The connectives of one system, those lost most often first."""

    system: str
    words: tuple[tuple[str, ConnectiveTally], ...]


def connective_tallies(
    results: EvaluationResults, metric: Metric
) -> Iterator[tuple[str, Mapping[str, ConnectiveTally]]]:
    """Tallies by system, for metrics that have them."""
    listing: _Listing | None = getattr(metric, "tally", None)
    if listing is None:
        return
    for system, counted in results.counted[metric.name].items():
        if not isinstance(counted, Unmeasured) and (found := listing(results.corpus, system)):
            yield system, found


def lost_connectives(results: EvaluationResults, metric: Metric) -> Iterator[LostConnectives]:
    """Lost connectives for the page."""
    for system, found in connective_tallies(results, metric):
        worst = sorted(found.items(), key=lambda item: (-item[1].lost, -item[1].in_reference, item[0]))
        if words := tuple((name, tally) for name, tally in worst[:MOST_CONNECTIVES] if tally.lost):
            yield LostConnectives(system, words)
