"""Inconsistently translated names in the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eval.corpus.corpus import Corpus
from eval.metrics.ltcr.inconsistency import Inconsistency
from eval.metrics.scoring import EvaluationResults, ResamplingOptions, measure_systems
from eval.report import write_report
from eval.report.inconsistent_names import inconsistent_names_by_system
from eval.statistics.counts import MetricCounts, Unmeasured, mean_fold
from tests.eval.metrics.ltcr.test_name_inconsistencies import name
from tests.eval.report.results_factory import corpus


@dataclass(frozen=True, slots=True)
class NameListMetric:
    """A metric that finds the same names in every output."""

    name: str = "listed"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        places = np.arange(len(corpus.documents))
        return MetricCounts(np.ones((len(places), 2)), places, mean_fold(), "listed|v:0", unit="document")

    def inconsistencies(self, corpus: Corpus, system: str) -> Iterator[Inconsistency]:
        if system == "good":
            yield name("<黑鹰>", ["Black <Hawk>", "Black Eagle", "Black Eagle", ""])


def results() -> EvaluationResults:
    return measure_systems(corpus(), [NameListMetric()], resampling=ResamplingOptions("document", "", 100, 1))


def test_a_name_has_every_rendering_with_its_sentence() -> None:
    (listed,) = inconsistent_names_by_system(results(), NameListMetric())
    (one,) = listed.names
    assert (listed.system, one.word, one.times) == ("good", "<黑鹰>", 4)
    rows = [(rendered.words, rendered.times, rendered.segment) for rendered in one.renderings]
    assert rows == [("Black Eagle", 2, 2), ("Black <Hawk>", 1, 1), ("(not found)", 1, 4)]
    assert [piece.kind for rendered in one.renderings for piece in rendered.source] == [
        "usual",
        "inconsistent",
        "inconsistent",
    ]


def test_the_page_lists_inconsistent_names_as_text(tmp_path: Path) -> None:
    write_report(results(), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count('<article class="name">') == 1
    assert "Inconsistently translated names" in page
    assert 'data-kind="inconsistent" title="inconsistent">Black &lt;Hawk&gt;</mark>' in page
    assert "<黑鹰>" not in page
