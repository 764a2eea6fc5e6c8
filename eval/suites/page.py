"""A suite's outcome as one page: its tables with the published rows, its pictures, and the slips of the annotators."""

from __future__ import annotations

import base64
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from jinja2 import Environment

from ape.files.atomic import write_text_atomic
from ape.reports.base_page import page_asset, page_templates
from eval.suites.suite import SuiteFigure, SuiteResult


def write_page(outcome: SuiteResult, path: Path) -> None:
    """Write it to `path`, replacing what was there only once the page is whole."""
    text = (
        _templates()
        .get_template("suite.html")
        .render(
            outcome=outcome,
            pictures=[(one, _drawn(one)) for one in outcome.pictures],
            style=page_asset("eval.report", "style.css") + page_asset("eval.suites", "suite.css"),
        )
    )
    write_text_atomic(path, text)


def _drawn(picture: SuiteFigure) -> str:
    """As a page holds it within itself."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "picture.png"
        picture.draw(file)
        return base64.b64encode(file.read_bytes()).decode()


def format_number(value: float | None) -> str:
    """Counts as they are, all else with two digits."""
    if value is None:
        return "n/a"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


@lru_cache
def _templates() -> Environment:
    return page_templates("eval.suites", filters={"number": format_number})
