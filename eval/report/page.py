"""Evaluation report: one self-contained HTML page without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ape.reports.base_page import Page
from ape.text.languages import language_name
from eval.metrics.scoring import SIGNIFICANCE_TESTS, EvaluationResults
from eval.report.sections import MetricSection, metric_section

# A corrected p-value below this is significant.
SIGNIFICANCE_LEVEL = 0.05
_PAGE = Page("eval.report", styles=["scores.css"])


def write_report(results: EvaluationResults, path: Path, *, title: str = "") -> None:
    """Write the report to `path`, replacing an existing file only once the page is complete."""
    corpus = results.corpus
    sections = [metric_section(results, metric) for metric in results.metrics]
    _PAGE.write(
        path,
        "report.html",
        title=title or corpus.name or "Scores",
        facts=_facts(results),
        systems=corpus.systems,
        baseline=results.resampling.baseline,
        sections=sections,
        languages={"source": corpus.source_language, "target": corpus.target_language},
        tested=bool(results.resampling.baseline),
        drawn_by=results.resampling.by,
        kinds=_kinds(sections),
        level=SIGNIFICANCE_LEVEL,
    )


def _facts(results: EvaluationResults) -> Mapping[str, str]:
    corpus, how = results.corpus, results.resampling
    facts = {
        "Texts": f"{len(corpus):,} segments in {len(corpus.documents):,} documents",
        "Languages": f"{language_name(corpus.source_language)} to {language_name(corpus.target_language)}",
        "Systems": f"{len(corpus.systems)}",
        "Intervals": f"95%, bootstrap over {how.by}s, {how.samples:,} resamples, seed {how.seed}",
    }
    if how.baseline:
        facts["Baseline"] = f"{how.baseline}; {SIGNIFICANCE_TESTS[how.test]}, Holm’s correction over systems"
        facts["Tests"] = how.signature
    facts |= {f"Caveat {number}": text for number, text in enumerate(results.caveats(), 1)}
    return facts


def _kinds(sections: list[MetricSection]) -> list[str]:
    """Kinds of all marked words."""
    kinds = {
        piece.kind
        for part in sections
        for moves in part.moves
        for passage in (*moves.up, *moves.down)
        for text in passage.texts
        for piece in text.pieces
        if piece.kind
    }
    if any(part.names for part in sections):
        kinds |= {"usual", "inconsistent"}
    return sorted(kinds)
