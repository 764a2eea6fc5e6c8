"""Comparison page: tables and plots are HTML, and a script shows the paragraphs from embedded data.

Ten thousand paragraphs of six systems would be too many elements for any browser, so only those on the screen are made.
Text is never HTML here: the template escapes it, and the script sets it as text. Should either ever fail to, the page's
content security policy runs no script and no style but its own, and loads nothing from anywhere.
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
    references = max(len(one.references) for one in corpus.documents)
    translations = "one translation" if references == 1 else f"{references} translations"
    return {
        "Set": f"{corpus.name}: {paragraphs}" if corpus.name else paragraphs,
        "Languages": f"{language_name(corpus.source_language)} to {language_name(corpus.target_language)}",
        "Held against": f"{translations} by people"
        if references
        else "no reference: nobody's translation is known",
        "Do nothing": f"the MT as it was ({compared.data.mt})",
        "Intervals": f"95%; of scores and differences by bootstrap over {how.by}s, {how.samples:,} resamples, seed "
        f"{how.seed}; of wins as said there",
    }


def _missing(compared: SystemComparison) -> dict[str, list[str]]:
    """Metrics without any score, by reason."""
    told: dict[str, list[str]] = {}
    for metric in compared.results.metrics:
        cells = [score_cell(compared.results, metric.name, system) for system in compared.names]
        if all(cell.value is None for cell in cells):
            told.setdefault(cells[0].why, []).append(metric.name)
    return told


# Its table cells, and the style of its tables and plots, are those of the evaluation report.
_PAGE = Page(
    "eval.compare",
    "eval.report",
    styles=["scores.css", "compare.css"],
    scripts=["script.js"],
    filters={"data": script_json, "packed": compressed_json},
    names={"plots": plots},
)
