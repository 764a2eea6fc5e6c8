"""A translator with a keyboard: upload, names, the embedded engine, review, kill -9, back again, EPUB and Word.

Nothing is clicked. The service is `ape studio` in a process of its own, the browser keeps its profile, and LibreOffice
opens the Word file. The second half happens in a window of the size of a phone.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from ape.books.formats import open_book
from ape.sample import load_sample
from ape.settings import default_cache
from tests.ape.books.book_factory import make_epub
from tests.ape.books.epubcheck import epubcheck
from tests.ape.reports.browser import PageLeft, Tab, chromium, find_chromium
from tests.ape.review.tracked_docx import libreoffice_missing, resolve_in_libreoffice

pytestmark = [pytest.mark.browser, pytest.mark.model, pytest.mark.slow, pytest.mark.subprocess]

DESKTOP, PHONE = 1280, 390  # widths of the window in pixels
# The smallest model of the catalogue takes seconds for each of them.
PARAGRAPHS = [one for one in load_sample("fr-en").paragraphs if "<" not in one.source][:4]
# In two of three sentences the machine calls Mathilde by another name.
DOORS = [f"Mathilde ferma la porte {number}." for number in range(33)]
MT_DOORS = [f"{'Mathilde' if number % 3 == 0 else 'Matilda'} closed the door {number}." for number in range(33)]


@contextmanager
def running_studio(folder: Path, model: Path, port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the address that it prints."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("APE_", "OPENAI_"))}
    homes = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(folder))
    ape = [sys.executable, "-m", "ape.cli.main", "studio", "--no-browser", "--port", str(port), "--model", str(model)]
    environment = clean | homes | {"APE_CACHE": str(default_cache())}
    log = (folder / "studio.log").open("w+", encoding="utf-8")
    process = subprocess.Popen(ape, stdout=log, stderr=log, text=True, cwd=folder, env=environment)
    try:
        deadline = time.monotonic() + 300
        while not (found := re.search(r"Open (http://\S+/enter/\S+)", (folder / "studio.log").read_text())):
            assert process.poll() is None, (folder / "studio.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield process, found[1]
    finally:
        process.kill()
        process.wait()
        log.close()


class Hands:
    """Somebody who has a keyboard and no mouse."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab

    def wait(self, script: str, *, seconds: float = 100) -> None:
        """Wait until an expression of the page, or of the page after it, is true."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                if self.tab.run(f"!!({script})"):
                    return
                shown = self.tab.run("document.body.innerText.slice(0, 1500)")
            except (AssertionError, PageLeft) as error:  # the page is being replaced
                shown = str(error)
            assert time.monotonic() < deadline, (script, shown)
            time.sleep(0.05)

    def go_to(self, selector: str) -> None:
        """Press Tab until the focus is on the element."""
        for _ in range(400):
            if self.tab.run(f"!!document.activeElement?.matches({selector!r})"):
                return
            self.tab.press("Tab")
        raise AssertionError(f"{selector} can't be reached by Tab")

    def follow(self, selector: str, then: str, *, seconds: float = 100) -> None:
        """Press Enter on a link or button that leads to another page."""
        self.go_to(selector)
        self.tab.press("Enter")
        self.wait(then, seconds=seconds)

    def choose_file(self, selector: str, path: Path) -> None:
        """Press Enter on the field of a file, and choose in the dialog of the browser."""
        self.tab.call("DOM.enable")
        self.go_to(selector)
        node = self.tab.call(
            "DOM.querySelector", nodeId=self.tab.call("DOM.getDocument")["root"]["nodeId"], selector=selector
        )
        self.tab.call("DOM.setFileInputFiles", nodeId=node["nodeId"], files=[str(path)])

    def say(self, key: str, notice: str) -> None:
        """Press a key of the review and wait for its message."""
        self.tab.run('document.querySelector("#notice").textContent = ""')
        self.tab.press(key)
        self.wait(f'document.querySelector("#notice").textContent.includes("{notice}")')

    def save(self) -> None:
        """Press Ctrl+Enter, which saves a text."""
        for kind in ("keyDown", "keyUp"):
            self.tab.call("Input.dispatchKeyEvent", type=kind, key="Enter", windowsVirtualKeyCode=13, modifiers=2)
        self.wait("!document.querySelector('.target textarea')")


def sample_epubs(folder: Path) -> tuple[Path, Path]:
    """The sample chapter and one about doors, as a French and an English EPUB."""
    plain = [[getattr(one, side) for one in PARAGRAPHS] for side in ("source", "mt")]
    chapters = ([["Un", *plain[0]], ["Deux", *DOORS]], [["One", *plain[1]], ["Two", *MT_DOORS]])
    paths = folder / "fr.epub", folder / "en.epub"
    for path, paragraphs, language in zip(paths, chapters, ("fr", "en"), strict=True):
        make_epub(path, paragraphs=paragraphs, language=language)
    return paths


def upload_and_run(hands: Hands, source: Path, mt: Path) -> None:
    """From the start page to a finished book, with its names confirmed."""
    hands.follow("a[href='/books']", "document.querySelector('#upload')")
    hands.choose_file("#source", source)
    hands.choose_file("#mt", mt)
    hands.follow("#upload .row button", "document.querySelector('#plan-title')")
    hands.go_to("#names tr[data-id] .target")  # Tab selects what is there
    hands.tab.write("Mathilde")
    hands.go_to("#names tr[data-id] .gender")
    hands.tab.press("s")
    assert hands.tab.run("document.activeElement.value") == "female"
    hands.follow("#confirm", "document.querySelector('#names-saved').textContent.startsWith('Saved')")
    start = "form[action*='/start'] button"
    hands.follow(start, "document.querySelector('#state')?.textContent === 'done'", seconds=900)


def review_twenty_edits(hands: Hands) -> None:
    """Accept and reject twenty edits; change a text, comment, undo, replace in the whole book."""
    hands.follow("a[href*='/review']", "document.querySelector('#review')?.dataset.ready")
    hands.go_to("select[name=chapter]")
    hands.tab.press("w")  # "whole book"
    hands.follow(
        ".filters button", "location.search.includes('chapter=&') && document.querySelector('#review')?.dataset.ready"
    )
    hands.go_to(".paragraph .edit")
    for number in range(20):
        hands.say("r" if number % 5 == 4 else "a", "Rejected" if number % 5 == 4 else "Accepted")
    decided = int(hands.tab.run("document.querySelector('#count-decided').textContent"))
    hands.say("u", "undone")
    assert int(hands.tab.run("document.querySelector('#count-decided').textContent")) == decided - 1
    hands.tab.press("c")
    hands.tab.write("Matilda or Mathilde?")
    hands.save()
    hands.tab.press("e")
    hands.wait("document.querySelector('.target textarea')")
    hands.tab.write(" She sighed.")
    hands.save()
    hands.tab.press("/")
    hands.wait("document.querySelector('#dialog').open")
    hands.tab.write("closed the door")
    hands.tab.press("Tab")
    hands.tab.write("shut the door")
    hands.tab.press("Enter")
    hands.wait("document.querySelectorAll('#dialog .matches input').length >= 20 && "
               "!document.querySelector('#dialog button.second').disabled")  # fmt: skip
    hands.go_to("#dialog button.second")
    hands.tab.press("Enter")
    hands.wait("document.querySelector('#notice').textContent.startsWith('Replaced in')")


def finish_review(hands: Hands) -> None:
    """Accept all edits that are left, of which some may be on a second page."""
    hands.go_to("[data-do=all]")
    hands.tab.press("Enter")
    hands.wait("document.querySelector('#dialog').open")
    hands.go_to("#dialog-body > button")
    hands.tab.press("Enter")
    hands.wait("document.querySelector('#notice').textContent.includes('accepted. U undoes')")
    assert hands.tab.run("document.querySelector('#count-open').textContent") == "0"


def download(hands: Hands, formats: Sequence[str], folder: Path) -> list[Path]:
    """Press Enter on the links of downloads."""
    folder.mkdir()
    hands.tab.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    found: list[Path] = []
    for name in formats:
        hands.go_to(f"a[href*='format={name}']")
        hands.tab.press("Enter")
        deadline = time.monotonic() + 300
        while not (new := [one for one in folder.iterdir() if one not in found and one.suffix in (".epub", ".docx")]):
            assert time.monotonic() < deadline, list(folder.iterdir())
            time.sleep(0.05)
        found += new
    return found


@contextmanager
def open_browser(profile: Path, address: str, width: int) -> Iterator[Hands]:
    with chromium(find_chromium(), profile) as browser:
        tab = Tab(browser, width=width, height=844)
        tab.open(address)
        yield Hands(tab)


def test_a_book_is_mended_by_keyboard_and_survives_kill_9(tmp_path: Path, smollm2: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    source, mt = sample_epubs(tmp_path)
    with running_studio(tmp_path, smollm2, port) as (process, entry):
        with open_browser(tmp_path / "profile", entry, DESKTOP) as hands:
            upload_and_run(hands, source, mt)
            review_twenty_edits(hands)
            page = hands.tab.run("location.href")
            before = hands.tab.run("document.querySelector('.tally').textContent")
        process.send_signal(signal.SIGKILL)
        process.wait()
    with (
        running_studio(tmp_path, smollm2, port),
        open_browser(tmp_path / "profile", page, PHONE) as hands,  # the session outlives both
    ):
        hands.wait("document.querySelector('#review')?.dataset.ready")
        assert hands.tab.run("document.querySelector('.tally').textContent") == before
        assert "Matilda or Mathilde?" in hands.tab.run("document.querySelector('main').textContent")
        finish_review(hands)
        texts = hands.tab.run("[...document.querySelectorAll('.paragraph')].map((one) => one.dataset.id)")
        epub, word = download(hands, ("reviewed-book", "tracked-docx"), tmp_path / "downloads")
    check_downloads(epub, word, mt, texts, tmp_path)


def check_downloads(epub: Path, word: Path, mt: Path, ids: Sequence[str], folder: Path) -> None:
    """The EPUB is valid and has the edits; the Word file has both texts, letter for letter."""
    new = [one.text for one in open_book(epub).paragraphs()]
    old = [one.text for one in open_book(mt).paragraphs()]
    assert len(new) == len(old) == len(ids)
    assert sum("Mathilde shut the door" in text for text in new) >= 20
    assert any(text.endswith("She sighed.") for text in new)
    with zipfile.ZipFile(epub) as archive:
        assert archive.testzip() is None
    if not libreoffice_missing():
        assert resolve_in_libreoffice(word, folder / "accepted", accept=True) == new
        assert resolve_in_libreoffice(word, folder / "rejected", accept=False) == old
    assert "ERROR" not in epubcheck(epub)
