"""Writing the report: what was measured is put in order, and a template makes one page of it.

The page needs no script and loads nothing. Text is never HTML here: the template escapes whatever comes from a corpus,
a system or a metric; should it ever fail to, the page's content security policy runs and loads nothing but its style.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment

from ape.files.atomic import write_text_atomic
from ape.reports.base_page import page_asset, page_templates
from ape.text.languages import language_name
from eval.metrics.scoring import SIGNIFICANCE_TESTS, EvaluationResults
from eval.report.sections import MetricSection, metric_section

# A p-value below this is called significant, after correction.
SIGNIFICANCE_LEVEL = 0.05


def write_report(results: EvaluationResults, path: Path, *, title: str = "") -> None:
    """Write the report to `path`, replacing what was there only once the page is whole."""
    corpus = results.corpus
    sections = [metric_section(results, metric) for metric in results.metrics]
    page = _templates().get_template("report.html")
    write_text_atomic(
        path,
        page.generate(
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
            style=page_asset("eval.report", "style.css"),
        ),
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
    return facts


def _kinds(sections: list[MetricSection]) -> list[str]:
    """What words are marked for, of all passages and names."""
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


def format_number(value: float) -> str:
    """Two digits of what goes to 100, four of what goes to 1."""
    return f"{value:.4f}" if 0 < abs(value) < 1 else f"{value:,.2f}"


def format_signed(value: float) -> str:
    """With its sign, the minus as printers set it."""
    return ("+" if value >= 0 else "−") + format_number(abs(value))


def format_p_value(value: float) -> str:
    """As papers write it."""
    return "p < .001" if value < 0.001 else f"p = {value:.3f}".replace("0.", ".", 1)


@lru_cache
def _templates() -> Environment:
    return page_templates(
        "eval.report", filters={"number": format_number, "p_value": format_p_value, "signed": format_signed}
    )
