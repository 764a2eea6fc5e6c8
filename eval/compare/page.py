"""Comparison page: tables and plots are HTML, and a script renders the paragraphs from embedded data.

Browsers can't hold the elements of ten thousand paragraphs of six systems, so the script renders one page at a time.
Text never becomes HTML: the template escapes it, and the script inserts it as text. The content security policy
additionally blocks foreign scripts and styles, and all requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ape.reports.base_page import Page
from ape.text.languages import language_name
from eval.compare import plots
from eval.compare.comparison import SystemComparison
from eval.compare.comparison_set import DO_NOTHING
from eval.compare.opinions import UNCHECKED_VOTES_NOTE
from eval.compare.page_data import compressed_json, paragraph_blocks, paragraph_index, script_json
from eval.compare.panels import comparison_panels, count_outcomes, summarise_systems
from eval.report.page import SIGNIFICANCE_LEVEL
from eval.report.sections import score_cell


def write_comparison_page(
    compared: SystemComparison, path: Path, *, manifest: Mapping[str, Any], title: str = ""
) -> None:
    """Write the page to `path`, replacing an existing file only once it is complete."""
    results = compared.results
    _PAGE.write(
        path,
        "report.html",
        title=title or results.corpus.name or "Comparison",
        facts=_facts(compared),
        compared=compared,
        baseline=DO_NOTHING,
        cells={
            (metric.name, system): score_cell(results, metric.name, system)
            for metric in results.metrics
            for system in compared.names
        },
        measured=[metric for metric in results.metrics if results.signatures().get(metric.name)],
        missing=_missing(compared),
        summaries=summarise_systems(compared),
        outcomes=count_outcomes(compared),
        panels=comparison_panels(compared),
        index=paragraph_index(compared),
        blocks=paragraph_blocks(compared),
        manifest=manifest,
        level=SIGNIFICANCE_LEVEL,
        unchecked=UNCHECKED_VOTES_NOTE,
    )


def _facts(compared: SystemComparison) -> dict[str, str]:
    corpus, how = compared.results.corpus, compared.results.resampling
    paragraphs = f"{len(corpus):,} paragraphs in {len(corpus.documents):,} documents"
    references = max(len(document.references) for document in corpus.documents)
    translations = "one human translation" if references == 1 else f"{references} human translations"
    facts = {
        "Set": f"{corpus.name}: {paragraphs}" if corpus.name else paragraphs,
        "Languages": f"{language_name(corpus.source_language)} to {language_name(corpus.target_language)}",
        "References": translations if references else "none",
        "Baseline": f"{DO_NOTHING}: the unchanged MT ({compared.data.mt})",
        "Intervals": f"95%; scores and differences: bootstrap over {how.by}s, {how.samples:,} resamples, seed "
        f"{how.seed}; wins: see the tables",
    }
    return facts | {f"Caveat {number}": text for number, text in enumerate(compared.results.caveats(), 1)}


def _missing(compared: SystemComparison) -> dict[str, list[str]]:
    """Metrics without any score, by reason."""
    reasons: dict[str, list[str]] = {}
    for metric in compared.results.metrics:
        cells = [score_cell(compared.results, metric.name, system) for system in compared.names]
        if all(cell.value is None for cell in cells):
            reasons.setdefault(cells[0].why, []).append(metric.name)
    return reasons


# Table cells and styles are shared with the evaluation report.
_PAGE = Page(
    "eval.compare",
    "eval.report",
    styles=["scores.css", "compare.css"],
    scripts=["script.js"],
    filters={"data": script_json, "packed": compressed_json},
    names={"plots": plots},
)
