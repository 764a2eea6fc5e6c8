"""axe-core finds nothing serious on the page of raters, on what they have voted, and on the login page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.human.trial_store import TrialStore
from serve.pages import create_pages_app
from tests.ape.reports.browser import Browser, Tab
from tests.scripted import running
from tests.serve.pages.axe_core import find_axe, serious_findings
from tests.serve.pages.conftest import PagesServer, settings_in
from tests.serve.pages.synthetic_trial import invented_trial, key_for, until, until_at, until_overview
from tests.serve.pages.test_accessibility import LOOKS

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def axe() -> str:
    return find_axe()


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[str]:
    """The address of pages that ask for a key."""
    settings = settings_in(tmp_path, api_keys="a-key-of-a-translator")
    with TrialStore(settings.jobs_url) as trials, running(create_pages_app(settings, trials)) as address:
        yield address


@pytest.mark.parametrize("look", LOOKS)
def test_voting_has_no_serious_finding(pages: PagesServer, tab: Tab, axe: str, look: tuple[int, bool]) -> None:
    trial = invented_trial(3)
    tab.look(width=look[0], height=900, dark=look[1])
    tab.open(pages.invite(trial, "Ada"))
    until_at(tab, 1)
    found = {"voting": serious_findings(tab, axe)}
    for place in range(3):
        until_at(tab, place + 1)
        tab.press(key_for(trial, "Ada", place), "Enter")
    until_overview(tab)
    found["overview"] = serious_findings(tab, axe)
    for path in ("/ab", f"/ab/{trial.id}/results", "/compare"):
        tab.open(pages.address + path)
        found[path] = serious_findings(tab, axe)
    assert [name for name in found if found[name]] == [], found


@pytest.mark.parametrize("look", LOOKS)
def test_marking_errors_has_no_serious_finding(pages: PagesServer, tab: Tab, axe: str, look: tuple[int, bool]) -> None:
    tab.look(width=look[0], height=900, dark=look[1])
    tab.open(pages.invite(invented_trial(1, spans="esa"), "Ada"))
    until(tab, "document.querySelector('#vote').checkVisibility()")
    found = {"tutorial": serious_findings(tab, axe)}
    tab.run("document.querySelector('#skip').click()")
    until_at(tab, 1)
    tab.press("a", " ", "Escape")
    found["span"] = serious_findings(tab, axe)
    assert [name for name in found if found[name]] == [], found


@pytest.mark.parametrize("look", LOOKS)
def test_the_login_page_has_no_serious_finding(browser: Browser, locked: str, axe: str, look: tuple[int, bool]) -> None:
    tab = Tab(browser)
    tab.look(width=look[0], height=900, dark=look[1])
    tab.open(f"{locked}/ab")
    until(tab, "!!document.querySelector('input[type=password]')")
    assert serious_findings(tab, axe) == []
    tab.close()
