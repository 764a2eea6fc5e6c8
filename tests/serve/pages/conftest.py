"""The pages on a real socket, with trials in a database of their own, and a real browser to look at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from ape.settings import Settings
from eval.human.trial import Trial
from eval.human.trial_store import TrialStore
from serve.pages import create_pages_app
from tests.ape.reports.browser import Browser, Tab
from tests.scripted import running


@dataclass
class PagesServer:
    """The pages while they are served."""

    trials: TrialStore
    settings: Settings
    address: str
    lines: list[str] = field(default_factory=list)

    def invite(self, trial: Trial, rater: str) -> str:
        """Where this rater votes."""
        self.trials.add(trial)
        return f"{self.address}/ab/r/{self.trials.invite(trial.id, rater)}"


def settings_in(folder: Path, **values: object) -> Settings:
    return Settings.model_validate(
        {
            "engine": "url",
            "url": "http://127.0.0.1:9/v1",
            "cache": folder / "cache",
            "jobs": str(folder / "jobs.sqlite"),
            "comparisons": folder / "comparisons",
            **values,
        }
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PagesServer]:
    settings = settings_in(tmp_path_factory.mktemp("pages"))
    lines: list[str] = []
    with (
        TrialStore(settings.jobs_url) as trials,
        running(create_pages_app(settings, trials, log=lines.append)) as address,
    ):
        yield PagesServer(trials, settings, address, lines)


@pytest.fixture
def caller(pages: PagesServer) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=pages.address, timeout=300) as client:
        yield client


@pytest.fixture
def tab(browser: Browser, pages: PagesServer) -> Iterator[Tab]:
    """A tab whose page must not have complained, nor asked for anything but ours."""
    opened = Tab(browser)
    yield opened
    assert opened.complaints == []
    assert all(address.startswith(("about:", pages.address)) for address in opened.requests)
    opened.close()
