from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.human.rater_page import offline_page, online_page, page_content
from eval.human.rater_page.page import ERROR_DESCRIPTIONS
from eval.human.sheet import public_sheet, rater_sheet
from eval.human.trial import Trial
from eval.human.vote import ERROR_KINDS
from eval.human.vote_reader import read_votes
from tests.ape.reports.browser import Browser, Tab, chromium, find_chromium
from tests.serve.pages.synthetic_trial import (
    COUNT,
    FREE,
    HOSTILE,
    LITERAL,
    NOTICE,
    SAID,
    invented_trial,
    key_for,
    picked,
    until,
    until_at,
    until_overview,
)

pytestmark = pytest.mark.browser

RATER = "Ada Ünal"


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("profile")


@pytest.fixture(scope="module")
def browser(profile: Path) -> Iterator[Browser]:
    with chromium(find_chromium(), profile) as opened:
        yield opened


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    """A tab whose page must log no errors and request only itself."""
    opened = Tab(browser)
    yield opened
    assert opened.complaints == []
    requested = {address for address in opened.requests if not address.startswith(("about:", "blob:"))}
    assert len(requested) <= 1
    opened.close()


def page_of(trial: Trial, folder: Path) -> str:
    path = folder / "page.html"
    path.write_text(offline_page(public_sheet(trial, RATER)), encoding="utf-8")
    return path.as_uri()


def save_to_file(tab: Tab, browser: Browser, folder: Path) -> Path:
    """Save the votes and return the downloaded file."""
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder), eventsEnabled=True)
    browser.events.setdefault("", []).clear()
    tab.click("#to-file")
    while not any(event.get("params", {}).get("state") == "completed" for event in browser.events[""]):
        browser.wait_for("", "Browser.downloadProgress")
        tab.run("0")
    (path,) = folder.glob("votes-*.json")
    return path


def load_file(tab: Tab, path: Path) -> None:
    """Load a file into the page."""
    document = tab.call("DOM.getDocument")["root"]["nodeId"]
    node = tab.call("DOM.querySelector", nodeId=document, selector="#from-file")["nodeId"]
    tab.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])


def test_votes_of_the_offline_page_can_be_imported(tab: Tab, browser: Browser, tmp_path: Path) -> None:
    trial = invented_trial(5)
    tab.open(page_of(trial, tmp_path))
    for place in range(5):
        until_at(tab, place + 1)
        tab.press(key_for(trial, RATER, place), "s", "p", "p", "e", " ", "c")
        tab.write(f"comment {place} {HOSTILE}")
        tab.press("Escape", "Enter")
    until_overview(tab)
    path = save_to_file(tab, browser, tmp_path)
    assert path.name == f"votes-{trial.id}-Ada-Ünal.json"
    votes = read_votes(path, trial)
    assert [vote.item for vote in votes] == [sheet.item.id for sheet in rater_sheet(trial, RATER)]
    for place, vote in enumerate(votes):
        assert (vote.rater, vote.winner, vote.confidence) == (RATER, FREE, "sure")
        assert vote.believed_human == "second"
        assert vote.errors == {"first": ("overly literal",)}
        assert vote.comment == f"comment {place} {HOSTILE}".strip()
        assert vote.at


def test_votes_survive_a_restart_and_move_to_another_browser_by_file(browser: Browser, tmp_path: Path) -> None:
    trial = invented_trial(3)
    page = page_of(trial, tmp_path)
    with chromium(find_chromium(), tmp_path / "mine") as mine:
        tab = Tab(mine)
        tab.open(page)
        until_at(tab, 1)
        tab.press(key_for(trial, RATER, 0), "Enter")
        until_at(tab, 2)
    with chromium(find_chromium(), tmp_path / "mine") as mine:
        tab = Tab(mine)
        tab.open(page)
        until_at(tab, 2)
        assert tab.run(COUNT) == "1 of 3 voted"
        tab.press(key_for(trial, RATER, 1), "Enter", "o")
        path = save_to_file(tab, mine, tmp_path)
    tab = Tab(browser)
    tab.open(page)
    until_at(tab, 1)
    tab.press("o")
    load_file(tab, path)
    until(tab, f"{SAID} === '2 votes read, 2 of them new.'")
    tab.press("Enter")
    until_at(tab, 3)
    tab.press("ArrowLeft")
    assert picked(tab)["choice"] is not None
    tab.close()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "not JSON"),
        ("[]", "no votes in this file"),
        ({"trial": "another", "rater": RATER, "votes": []}, "belong to another test"),
        ({"rater": "Ben", "votes": []}, "These votes are by Ben"),
    ],
)
def test_a_file_of_another_page_is_not_loaded(tab: Tab, tmp_path: Path, content: Any, why: str) -> None:
    trial = invented_trial(1)
    path = tmp_path / "votes.json"
    path.write_text(content if isinstance(content, str) else json.dumps({"trial": trial.id} | content))
    tab.open(page_of(trial, tmp_path))
    until_at(tab, 1)
    tab.press("o")
    load_file(tab, path)
    until(tab, f"({NOTICE}).includes('{why}')")
    assert tab.run(COUNT) == "0 of 1 voted"


def test_the_later_of_two_votes_on_an_item_wins(tab: Tab, tmp_path: Path) -> None:
    trial = invented_trial(2)
    items = [sheet.item.id for sheet in rater_sheet(trial, RATER)]
    times = ("2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z")
    old = [{"item": item, "choice": "tie", "at": at} for item, at in zip(items, times, strict=True)]
    strange = [{"item": "gone", "choice": "tie"}, {"item": items[0], "choice": "A"}, None]
    path = tmp_path / "votes.json"
    path.write_text(json.dumps({"trial": trial.id, "rater": RATER, "votes": [*old, *strange]}))
    tab.open(page_of(trial, tmp_path))
    for place in (1, 2):
        until_at(tab, place)
        tab.press("1", "Enter")
    until_overview(tab)
    load_file(tab, path)
    until(tab, f"{SAID} === '2 votes read, 1 of them new.'")
    labels = "[...document.querySelectorAll('#passages button')].map((one) => one.ariaLabel)"
    assert tab.run(labels) == ["passage 1: A is better", "passage 2: no difference"]


def test_two_tabs_keep_each_others_votes(browser: Browser, tmp_path: Path) -> None:
    trial = invented_trial(2)
    page = page_of(trial, tmp_path)
    tabs = [Tab(browser), Tab(browser)]
    for tab in tabs:
        tab.call("Page.bringToFront")
        tab.open(page)
        until_at(tab, 1)
    tabs[1].press(key_for(trial, RATER, 0), "Enter")
    until_at(tabs[1], 2)
    tabs[0].call("Page.bringToFront")
    tabs[0].press("ArrowRight")
    until_at(tabs[0], 2)
    tabs[0].press(key_for(trial, RATER, 1), "Enter", "o")
    assert {vote.item for vote in read_votes(save_to_file(tabs[0], browser, tmp_path), trial)} == {
        item.id for item in trial.items
    }
    for tab in tabs:
        assert tab.complaints == []
        tab.close()


def test_a_browser_without_storage_gets_a_warning(browser: Browser, tmp_path: Path) -> None:
    tab = Tab(browser)
    refuse = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
    tab.call("Page.addScriptToEvaluateOnNewDocument", source=refuse)
    trial = invented_trial(2)
    tab.open(page_of(trial, tmp_path))
    until_at(tab, 1)
    tab.press("1", "Enter")
    until(tab, f"({NOTICE}).includes('This browser can’t store votes')")
    until_at(tab, 2)
    tab.close()


def test_hostile_text_stays_text_and_the_policy_blocks_injections(browser: Browser, tmp_path: Path) -> None:
    trial = invented_trial(1, hostile=True)
    tab = Tab(browser)
    page = page_of(trial, tmp_path)
    tab.open(page)
    until_at(tab, 1)
    assert tab.complaints == []
    assert tab.run("document.title") == trial.name
    assert tab.run("document.querySelectorAll('b').length") == 0
    slip = (
        "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
        "<style>main { display: none }</style>"
    )
    path = tmp_path / "page.html"
    path.write_text(path.read_text(encoding="utf-8").replace("<main ", f"{slip}<main "), encoding="utf-8")
    tab.open(page)
    until_at(tab, 1)
    assert tab.run("document.title") == trial.name
    assert len(tab.complaints) >= 3  # the policy reported the script, the image and the style
    tab.close()


def test_embedded_json_cannot_end_its_script_element() -> None:
    trial = invented_trial(1, hostile=True)
    text = offline_page(public_sheet(trial, RATER))
    found = re.search(r'<script type="application/json" id="sheet">(.*?)</script>', text, re.DOTALL)
    assert found
    assert not re.search("[<>&]", found[1])
    assert json.loads(found[1]) == page_content(public_sheet(trial, RATER))


def test_the_page_connects_to_nothing_offline_and_only_to_itself_online() -> None:
    sheet = public_sheet(invented_trial(1), RATER)
    assert "connect-src 'none'" in offline_page(sheet)
    assert "connect-src 'self'" in online_page(sheet)
    assert LITERAL not in online_page(sheet).replace("overly literal", "")
    for page in (offline_page(sheet), online_page(sheet)):
        assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", page)


def test_a_lone_surrogate_is_shown(tab: Tab, tmp_path: Path) -> None:
    sheet = public_sheet(invented_trial(1), RATER)
    sheet["name"] += " \ud83d"
    sheet["items"][0]["a"] = ["half \ud83d here"]
    path = tmp_path / "page.html"
    path.write_text(offline_page(sheet), encoding="utf-8")
    tab.open(path.as_uri())
    until_at(tab, 1)
    assert tab.run("document.querySelector('#first p').textContent.startsWith('half')")


def test_every_error_kind_has_a_description() -> None:
    assert tuple(ERROR_DESCRIPTIONS) == ERROR_KINDS
