"""The page /docs shows the whole API in a browser, without another server, and sends requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from ape.settings import Settings
from tests.ape.reports.browser import Browser, Tab
from tests.scripted import ScriptedServer
from tests.serve.book_library import service as own_service
from tests.serve.book_library import settings_in

pytestmark = pytest.mark.browser

LOADED = """new Promise((done) => {
  const look = () => document.querySelector('#schemas').hidden ? setTimeout(look, 20) : done(1); look(); })"""
ANSWERED = """new Promise((done) => {{ const look = () => {{
  const found = document.getElementById({0}).querySelector('.response');
  if (found.textContent.length < 3) setTimeout(look, 20); else done(found.textContent); }}; look(); }})"""


@contextmanager
def open_docs(client: httpx2.Client, browser: Browser) -> Iterator[Tab]:
    """The page, which must not have complained nor loaded anything from elsewhere."""
    address = str(client.base_url).rstrip("/")
    opened = Tab(browser)
    opened.open(f"{address}/docs")
    opened.run(LOADED)
    yield opened
    assert opened.complaints == []
    assert all(one.startswith(("about:", address)) for one in opened.requests)
    opened.close()


@pytest.fixture
def tab(service: httpx2.Client, browser: Browser) -> Iterator[Tab]:
    with open_docs(service, browser) as opened:
        yield opened


def try_it(tab: Tab, operation: str, **values: str) -> str:
    """Fill the form of an operation, send it, and return the response as shown."""
    name = json.dumps(operation)
    for field, value in values.items():
        selector = json.dumps(f"[name={field}]")
        tab.run(f"document.getElementById({name}).querySelector({selector}).value = {json.dumps(value)}")
    tab.run(f"document.getElementById({name}).querySelector('form').requestSubmit()")
    response: str = tab.run(ANSWERED.format(name))
    return response


def test_every_operation_and_schema_is_shown(tab: Tab, service: httpx2.Client) -> None:
    document = service.get("/openapi.json").json()
    operations = {f"{method}-{path}" for path, methods in document["paths"].items() for method in methods}
    assert set(tab.run("[...document.querySelectorAll('details')].map((one) => one.id)")) == operations
    schemas = {f"schema-{name}" for name in document["components"]["schemas"]}
    assert set(tab.run("[...document.querySelectorAll('#schemas h3')].map((one) => one.id)")) == schemas
    links = tab.run("[...document.querySelectorAll('main a[href^=\"#\"]')].map((one) => one.hash.slice(1))")
    assert set(links) <= schemas


def test_a_passage_is_post_edited_from_the_page(tab: Tab, scripted: ScriptedServer) -> None:
    response = try_it(tab, "post-/v1/post-edit")
    status, _, body = response.partition("\n\n")
    assert status.startswith("200")
    assert json.loads(body)["decision"] in ("edited", "unchanged", "rejected")


def test_parameters_are_sent(tab: Tab, service: httpx2.Client) -> None:
    assert try_it(tab, "get-/v1/jobs", limit="3").startswith("200")
    assert tab.requests[-1] == f"{str(service.base_url).rstrip('/')}/v1/jobs?limit=3"


def test_the_policy_allows_no_inline_script(service: httpx2.Client) -> None:
    page = service.get("/docs")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "<script>" not in page.text
    assert service.get("/static/api_docs.js").headers["content-type"].startswith("text/javascript")


def test_the_key_of_the_page_is_sent(service_settings: Settings, browser: Browser, tmp_path: Path) -> None:
    settings = settings_in(service_settings, tmp_path, api_keys="a-key")
    with own_service(settings) as client, open_docs(client, browser) as tab:
        tab.run("document.querySelector('#key').value = 'a-key'")
        assert try_it(tab, "get-/v1/jobs").startswith("200")
