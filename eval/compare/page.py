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

from ape.languages import name_of
from ape.report.standalone import asset, templates, write_whole
from eval.compare import plots
from eval.compare.blocks import as_data, blocks, index, packed
from eval.compare.compared import Compared
from eval.compare.data import NOTHING
from eval.compare.opinion import UNCHECKED
from eval.compare.panels import outcomes, panels, summaries
from eval.report.page import LEVEL, number, p_value, signed
from eval.report.sections import cell_of


def write_page(compared: Compared, path: Path, *, manifest: Mapping[str, Any], title: str = "") -> None:
    """Write the page to `path`, replacing what was there only once it is whole."""
    results = compared.results
    # The tables and plots of the measurement's report look the same here.
    style = asset("eval.report", "style.css") + asset("eval.compare", "style.css")
    write_whole(
        path,
        _templates()
        .get_template("report.html")
        .generate(
            title=title or results.corpus.name or "Comparison",
            facts=_facts(compared),
            compared=compared,
            baseline=NOTHING,
            cells={
                (metric.name, system): cell_of(results, metric.name, system)
                for metric in results.metrics
                for system in compared.names
            },
            measured=[metric for metric in results.metrics if results.signatures().get(metric.name)],
            missing=_missing(compared),
            summaries=summaries(compared),
            outcomes=outcomes(compared),
            panels=panels(compared),
            index=index(compared),
            blocks=blocks(compared),
            manifest=manifest,
            level=LEVEL,
            unchecked=UNCHECKED,
            style=style,
            script=asset("eval.compare", "script.js"),
        ),
    )


def _facts(compared: Compared) -> dict[str, str]:
    corpus, how = compared.results.corpus, compared.results.resampling
    paragraphs = f"{len(corpus):,} paragraphs in {len(corpus.documents):,} documents"
    references = max(len(one.references) for one in corpus.documents)
    translations = "one translation" if references == 1 else f"{references} translations"
    return {
        "Set": f"{corpus.name}: {paragraphs}" if corpus.name else paragraphs,
        "Languages": f"{name_of(corpus.source_language)} to {name_of(corpus.target_language)}",
        "Held against": f"{translations} by people"
        if references
        else "no reference: nobody's translation is known",
        "Do nothing": f"the MT as it was ({compared.data.mt})",
        "Intervals": f"95%; of scores and differences by bootstrap over {how.by}s, {how.samples:,} resamples, seed "
        f"{how.seed}; of wins as said there",
    }


def _missing(compared: Compared) -> dict[str, list[str]]:
    """Metrics that measured nothing at all, by the reason."""
    told: dict[str, list[str]] = {}
    for metric in compared.results.metrics:
        cells = [cell_of(compared.results, metric.name, system) for system in compared.names]
        if all(cell.value is None for cell in cells):
            told.setdefault(cells[0].why, []).append(metric.name)
    return told


def percent(share: float) -> str:
    """A share as papers write it."""
    return f"{share:.0%}" if share >= 0.1 or not share else f"{share:.1%}"


@lru_cache
def _templates() -> Environment:
    # The cells of its table are those of a measurement's report.
    return templates(
        "eval.compare",
        "eval.report",
        filters={
            "number": number,
            "p_value": p_value,
            "signed": signed,
            "percent": percent,
            "data": as_data,
            "packed": packed,
        },
        names={"plots": plots},
    )
