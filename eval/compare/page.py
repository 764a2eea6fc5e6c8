"""Writing the page of a comparison: numbers and plots are HTML, and the paragraphs are data that a script shows.

Ten thousand paragraphs of six systems would be too many elements for any browser, so only those on the screen are made.
Text is never HTML here: the template escapes it, and the script sets it as text. Should either ever fail to, the page's
content security policy runs no script and no style but its own, and loads nothing from anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from ape.files.atomic import write_text_atomic
from ape.reports.base_page import page_asset, page_templates
from ape.text.languages import language_name
from eval.compare import plots
from eval.compare.comparison import SystemComparison
from eval.compare.comparison_set import DO_NOTHING
from eval.compare.opinions import UNCHECKED_VOTES_NOTE
from eval.compare.page_data import compressed_json, paragraph_blocks, paragraph_index, script_json
from eval.compare.panels import comparison_panels, count_outcomes, summarise_systems
from eval.report.page import SIGNIFICANCE_LEVEL, format_number, format_p_value, format_signed
from eval.report.sections import score_cell


def write_comparison_page(
    compared: SystemComparison, path: Path, *, manifest: Mapping[str, Any], title: str = ""
) -> None:
    """Write the page to `path`, replacing what was there only once it is whole."""
    results = compared.results
    # The tables and plots of the measurement's report look the same here.
    style = page_asset("eval.report", "style.css") + page_asset("eval.compare", "style.css")
    write_text_atomic(
        path,
        _templates()
        .get_template("report.html")
        .generate(
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
            style=style,
            script=page_asset("eval.compare", "script.js"),
        ),
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
    """Metrics that measured nothing at all, by the reason."""
    told: dict[str, list[str]] = {}
    for metric in compared.results.metrics:
        cells = [score_cell(compared.results, metric.name, system) for system in compared.names]
        if all(cell.value is None for cell in cells):
            told.setdefault(cells[0].why, []).append(metric.name)
    return told


def format_percent(share: float) -> str:
    """A share as papers write it."""
    return f"{share:.0%}" if share >= 0.1 or not share else f"{share:.1%}"


@lru_cache
def _templates() -> Environment:
    # The cells of its table are those of a measurement's report.
    return page_templates(
        "eval.compare",
        "eval.report",
        filters={
            "number": format_number,
            "p_value": format_p_value,
            "signed": format_signed,
            "percent": format_percent,
            "data": script_json,
            "packed": compressed_json,
        },
        names={"plots": plots},
    )
