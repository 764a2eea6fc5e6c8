"""A suite's outcome as one page: its tables with the published rows, its pictures, and the slips of the annotators."""

from __future__ import annotations

import base64
from pathlib import Path
from tempfile import TemporaryDirectory

from ape.reports.base_page import Page
from eval.suites.suite import SuiteFigure, SuiteResult

_PAGE = Page("eval.suites", "eval.report", styles=["scores.css", "suite.css"])


def write_page(outcome: SuiteResult, path: Path) -> None:
    """Write it to `path`, replacing an existing file only once the page is complete."""
    _PAGE.write(
        path, "suite.html", outcome=outcome, pictures=[(one, _drawn(one)) for one in outcome.pictures]
    )


def _drawn(picture: SuiteFigure) -> str:
    """As a page holds it within itself."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "picture.png"
        picture.draw(file)
        return base64.b64encode(file.read_bytes()).decode()
