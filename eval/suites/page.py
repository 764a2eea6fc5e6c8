"""A suite's outcome as one page: its tables with the published rows, its pictures, and the slips of the annotators."""

from __future__ import annotations

import base64
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from jinja2 import Environment

from ape.report.standalone import asset, templates, write_whole
from eval.suites.suite import Outcome, Picture


def write_page(outcome: Outcome, path: Path) -> None:
    """Write it to `path`, replacing what was there only once the page is whole."""
    text = (
        _templates()
        .get_template("suite.html")
        .render(
            outcome=outcome,
            pictures=[(one, _drawn(one)) for one in outcome.pictures],
            style=asset("eval.report", "style.css") + asset("eval.suites", "suite.css"),
        )
    )
    write_whole(path, [text])


def _drawn(picture: Picture) -> str:
    """As a page holds it within itself."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "picture.png"
        picture.draw(file)
        return base64.b64encode(file.read_bytes()).decode()


def number(value: float | None) -> str:
    """Counts as they are, all else with two digits."""
    if value is None:
        return "n/a"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


@lru_cache
def _templates() -> Environment:
    return templates("eval.suites", filters={"number": number})
