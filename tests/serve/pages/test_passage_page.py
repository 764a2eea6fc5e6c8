"""The passage page by keys alone: paste, see the changes, switch one off, ask for another version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.ape.reports.browser import Browser, Tab
from tests.scripted import Fail, Move, Say, ScriptedServer, translation_in
from tests.serve.pages.synthetic_trial import until

pytestmark = pytest.mark.browser

SOURCE = "Claire posa son sac sur la chaise et regarda la rue 😀 sans un mot."
MT = "Claire posed his bag on the chair and watched the street 😀 without a word."
MENDED = "Claire put her bag on the chair and watched the street 😀 without a word."
SHOWN = "document.querySelector('#text').hidden === false"
# The text as a reader would copy it.
TEXT = """[...document.querySelector('#text').childNodes].map((node) => node.nodeType === 3 ? node.data :
  (node.getAttribute('aria-pressed') === 'true' ? node.querySelector('ins') : node.querySelector('del'))?.textContent
  ?? '').join('')"""


def mend(request: dict[str, Any], turn: int) -> Move:
    return Say(translation_in(request).replace("posed his", "put her"))


@pytest.fixture
def page(browser: Browser, service: httpx2.Client, scripted: ScriptedServer) -> Iterator[Tab]:
    scripted.script = mend
    tab = Tab(browser)
    tab.open(str(service.base_url).rstrip("/") + "/passage")
    yield tab
    tab.close()


def write(tab: Tab, source: str = SOURCE, mt: str = MT) -> None:
    tab.run("document.querySelector('#source').focus()")
    tab.write(source)
    tab.press("Tab")
    tab.write(mt)


def submit(tab: Tab) -> None:
    tab.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", windowsVirtualKeyCode=13, modifiers=2)


def test_each_change_can_be_switched_by_keys(page: Tab) -> None:
    write(page)
    submit(page)
    until(page, SHOWN)
    assert page.run(TEXT) == MENDED
    assert page.run("document.querySelector('#languages').textContent") == "Detected: French → English"
    changes = page.run("document.querySelectorAll('.edit').length")
    page.press("n", "n", " ")
    assert page.run("document.activeElement.getAttribute('aria-pressed')") == "false"
    assert page.run(TEXT) == "Claire put his bag on the chair and watched the street 😀 without a word."
    said = page.run("document.querySelector('#decision').textContent")
    assert said == f"{changes - 1} of {changes} changes accepted."
    page.run("document.querySelector('#none').click()")
    assert page.run(TEXT) == MT
    assert page.complaints == []


def test_another_version_is_shown_and_can_be_used(page: Tab, scripted: ScriptedServer) -> None:
    write(page)
    submit(page)
    until(page, SHOWN)
    scripted.script = lambda request, turn: Say(MENDED.replace("watched the street", "looked at the street"))
    page.press("v")
    until(page, "document.querySelectorAll('#versions li').length === 1")
    assert scripted.requests[-1]["temperature"] > 0
    page.run("document.querySelector('#versions button').click()")
    assert "looked at the street" in page.run(TEXT)


def test_on_a_phone_a_message_is_in_sight_of_the_button(page: Tab) -> None:
    page.look(width=390, height=844)
    write(page)
    submit(page)
    until(page, SHOWN)
    page.run("document.querySelector('#copy').scrollIntoView({ block: 'end' })")
    page.run("document.querySelector('#copy').click()")
    until(page, "document.querySelector('#notice').textContent !== ''")
    box = "document.querySelector('#notice').getBoundingClientRect()"
    top, bottom = page.run(f"[{box}.top, {box}.bottom]")
    assert 0 <= top < bottom <= 844


def test_tags_of_the_prompt_are_not_shown_while_the_model_writes(page: Tab, scripted: ScriptedServer) -> None:
    scripted.script = lambda request, turn: Say(f"<translation>\n{MENDED}\n</translation>", pause=0.05)
    write(page)
    seen = "new MutationObserver(() => { window.seen += document.querySelector('#draft').textContent; })"
    page.run(f"window.seen = ''; {seen}.observe(document.querySelector('#draft'), {{ childList: true }})")
    submit(page)
    until(page, SHOWN)
    assert "<translation>" not in page.run("window.seen")
    assert "Claire put" in page.run("window.seen")


def test_markup_in_a_passage_is_text(page: Tab) -> None:
    hostile = "Claire posed his <img src=x onerror=alert(1)> bag on the chair and watched the street for a while."
    write(page, SOURCE, hostile)
    submit(page)
    until(page, SHOWN)
    assert page.run("document.querySelectorAll('#result img').length") == 0
    assert "<img src=x onerror=alert(1)>" in page.run(TEXT)


def test_a_failing_model_is_a_sentence_and_the_texts_stay(page: Tab, scripted: ScriptedServer) -> None:
    scripted.script = lambda request, turn: Fail(400)
    write(page)
    submit(page)
    until(page, "document.querySelector('#problem').hidden === false")
    assert page.run("document.querySelector('#problem').textContent").endswith(".")
    assert page.run("document.querySelector('#mt').value") == MT
