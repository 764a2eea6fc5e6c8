"""Every page has the layout, strict headers and nothing inline."""

from __future__ import annotations

import re

import httpx2
import pytest

PAGES = ("/", "/evaluation", "/ab", "/compare", "/docs")


@pytest.mark.parametrize("path", PAGES)
def test_a_page_runs_our_own_files_only(service: httpx2.Client, path: str) -> None:
    answer = service.get(path)
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script>|javascript:", answer.text)
    for file in re.findall(r'(?:src|href)="(/static/[^"]+)"', answer.text):
        assert service.get(file).status_code == 200, file


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_landmarks_and_a_title(service: httpx2.Client, path: str) -> None:
    text = service.get(path).text
    assert len(re.findall("<main ", text)) == len(re.findall("<h1", text)) == 1
    assert '<nav aria-label="Pages">' in text
    assert 'class="skip" href="#main"' in text
    assert re.search("<title>[^<]+</title>", text)


def test_static_files_are_cached_until_they_change(service: httpx2.Client) -> None:
    first = service.get("/static/api.js")
    assert first.headers["content-type"].startswith("text/javascript")
    again = service.get("/static/api.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["/static/", "/static/nothing.js", "/static/..%2Flayout.html", "/static/../app.py"])
def test_nothing_else_is_served(service: httpx2.Client, path: str) -> None:
    assert service.get(path).status_code == 404


def test_a_page_that_is_not_there_leads_to_the_start(service: httpx2.Client) -> None:
    page = service.get("/nothing", headers={"Accept": "text/html"})
    assert (page.status_code, '<a href="/">To the start page</a>' in page.text) == (404, True)


def test_an_error_is_a_page_for_people_and_json_for_programs(service: httpx2.Client) -> None:
    for_people = service.get("/nowhere", headers={"Accept": "text/html"})
    assert (for_people.status_code, "<h1>Not found</h1>" in for_people.text) == (404, True)
    assert service.get("/nowhere").headers["content-type"] == "application/problem+json"
    api = service.get("/v1/jobs/none", headers={"Accept": "text/html"})
    assert api.headers["content-type"] == "application/problem+json"
