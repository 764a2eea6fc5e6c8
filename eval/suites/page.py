"""Page of a suite's results: tables with published rows, figures, and annotation issues."""

from __future__ import annotations

import base64
from pathlib import Path
from tempfile import TemporaryDirectory

from ape.reports.base_page import Page
from eval.suites.suite import SuiteFigure, SuiteResult

_PAGE = Page("eval.suites", "eval.report", styles=["scores.css", "suite.css"])


def write_page(outcome: SuiteResult, path: Path) -> None:
    """Write the page atomically."""
    _PAGE.write(path, "suite.html", outcome=outcome, pictures=[(one, _data_url(one)) for one in outcome.pictures])


def _data_url(picture: SuiteFigure) -> str:
    """The figure as a data URL."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "picture.png"
        picture.draw(file)
        return base64.b64encode(file.read_bytes()).decode()
