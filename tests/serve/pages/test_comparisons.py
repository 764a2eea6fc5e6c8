from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.ape.reports.browser import Browser, Tab
from tests.serve.pages.conftest import PagesServer
from tests.serve.pages.synthetic_trial import HOSTILE, hidden_to_the_right

REPORT = "<!doctype html><title>Report</title><h1>Two models</h1><script>document.title = 'ran'; fetch('/ab')</script>"


@pytest.fixture
def folder(pages: PagesServer) -> Iterator[Path]:
    """One comparison that is done, one under way, and things that are none."""
    folder = pages.settings.comparisons_folder
    run(folder / "done & <b>dusted", complete=True)
    run(folder / "begun", complete=False)
    (folder / "no-manifest").mkdir()
    (folder / "broken").mkdir()
    (folder / "broken" / "manifest.json").write_text("{")
    (folder / "odd").mkdir()
    (folder / "odd" / "manifest.json").write_text('{"data": 1}')
    (folder.parent / "secret.json").write_text("{}")
    yield folder
    for one in sorted(folder.rglob("*"), reverse=True):
        one.rmdir() if one.is_dir() else one.unlink()


def run(folder: Path, *, complete: bool) -> None:
    folder.mkdir(parents=True)
    manifest = {
        "complete": complete,
        "data": {"name": f"stories {HOSTILE}", "digest": "sha256:0"},
        "systems": [{"name": "do-nothing"}, {"name": HOSTILE}] if complete else [],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    if complete:
        (folder / "report.html").write_text(REPORT)
        (folder / "results.json").write_text('{"scores": []}')


def test_only_comparisons_are_listed(caller: httpx2.Client, folder: Path) -> None:
    text = caller.get("/compare").text
    rows = text.split('<th scope="row">')[1:]
    assert len(rows) == 2
    done = next(row for row in rows if "done" in row)
    begun = next(row for row in rows if "begun" in row)
    assert "not yet" in begun
    assert "href" not in begun.partition("</th>")[0]
    assert "done &amp; &lt;b&gt;dusted" in done
    assert "<script>document" not in text


def test_on_a_phone_systems_and_files_are_in_sight(tab: Tab, pages: PagesServer, folder: Path) -> None:
    tab.look(width=390, height=844)
    tab.open(f"{pages.address}/compare")
    assert tab.run("document.querySelectorAll('tbody tr').length") == 2
    assert not hidden_to_the_right(tab)


def test_without_any_the_page_says_where_they_would_be(caller: httpx2.Client, pages: PagesServer) -> None:
    said = f"There are no comparisons in <code>{pages.settings.comparisons_folder}</code>"
    assert said in caller.get("/compare").text


def test_a_report_opens_and_can_reach_nothing(
    browser: Browser, caller: httpx2.Client, pages: PagesServer, folder: Path
) -> None:
    tab = Tab(browser)
    tab.open(f"{pages.address}/compare")
    tab.leave("document.querySelector('tbody th a').click()")
    assert tab.run("document.querySelector('h1').textContent") == "Two models"
    assert any("Content Security Policy" in one for one in tab.complaints)  # its script asked for a page of ours
    tab.close()


def test_the_files_beside_the_report_can_be_had(caller: httpx2.Client, folder: Path) -> None:
    assert caller.get("/compare/begun/manifest.json").json()["complete"] is False
    assert caller.get("/compare/begun").status_code == 404
    assert caller.get("/compare/begun/results.json").status_code == 404
    assert caller.get("/compare/done%20%26%20%3Cb%3Edusted/results.json").json() == {"scores": []}


@pytest.mark.parametrize(
    "path",
    [
        "/compare/nothing",
        "/compare/no-manifest",
        "/compare/..%2Fsecret.json",
        "/compare/../secret.json/manifest.json",
        "/compare/%2e%2e/secret.json",
        "/compare/begun/work.sqlite",
        "/compare/begun/..%2F..%2Fsecret.json",
        "/compare/%00/manifest.json",
    ],
)
def test_no_name_leads_out_of_the_folder(caller: httpx2.Client, folder: Path, path: str) -> None:
    assert caller.get(path).status_code == 404
