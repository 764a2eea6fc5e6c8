"""Headless Chromium for tests of pages, controlled by the DevTools protocol over a pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import pytest

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--remote-debugging-pipe",
    "--hide-scrollbars", "--force-color-profile=srgb",
)  # fmt: skip

_PATIENCE = 180  # seconds; a busy machine has kept chromium silent for a minute
# What the browser answers when the page goes away while a script runs in it, and how many pages may do so in a row.
_LEFT = "Inspected target navigated or closed"
_PAGES_LEFT = 5

# Key codes and texts that the browser needs besides the name of a key.
_CODES = {"Enter": 13, "Escape": 27, "Tab": 9}


class PageLeft(Exception):
    """A script ran when its page was left for another one."""


class Browser:
    """DevTools connection: one command at a time; events are collected by tab."""

    def __init__(self, commands: BinaryIO, answers: BinaryIO) -> None:
        self._commands, self._answers = commands, answers
        self._last, self._rest = 0, b""
        self.context = ""
        self.events: dict[str, list[dict[str, Any]]] = {}

    def call(self, method: str, session: str = "", **parameters: object) -> Any:
        """The result of a command."""
        self._last += 1
        message: dict[str, object] = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._commands.write(json.dumps(message).encode() + b"\0")
        self._commands.flush()
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                if _LEFT in str(answer.get("error")):
                    raise PageLeft(method)
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    @contextmanager
    def new_context(self) -> Iterator[None]:
        """Open tabs without the cookies and the storage of earlier ones, as in a new profile."""
        self.context = self.call("Target.createBrowserContext")["browserContextId"]
        try:
            yield
        finally:
            self.call("Target.disposeBrowserContext", browserContextId=self.context)
            self.context = ""

    def wait_for(self, session: str, method: str) -> None:
        """Wait for an event of that name."""
        while not any(event["method"] == method for event in self.events[session]):
            self._read()

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._answers], [], [], _PATIENCE)
            assert ready, f"no answer of the browser for {_PATIENCE} seconds"
            more = os.read(self._answers.fileno(), 1 << 20)
            assert more, "the browser is gone"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        if "method" in found:
            self.events.setdefault(found.get("sessionId", ""), []).append(found)
        return found


class Tab:
    """A page in the browser, with its requests and console messages."""

    def __init__(self, browser: Browser, *, width: int = 1440, height: int = 900, dark: bool = False) -> None:
        self._browser = browser
        context = {"browserContextId": browser.context} if browser.context else {}
        self._target = browser.call("Target.createTarget", url="about:blank", **context)["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        browser.events.setdefault(self._session, [])
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.look(width=width, height=height, dark=dark)

    def call(self, method: str, **parameters: object) -> Any:
        """The result of a command to this tab."""
        return self._browser.call(method, self._session, **parameters)

    def look(self, *, width: int = 1440, height: int = 900, dark: bool = False, media: str = "") -> None:
        """Set the screen size, and light or dark colours."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def open(self, address: str) -> None:
        """Open a URL and wait until it is loaded."""
        self._browser.events[self._session].clear()
        # Another fragment of the same page would only scroll, without a load event.
        self.call("Page.navigate", url="about:blank")
        self.wait_for_load()
        self._browser.events[self._session].clear()
        self.call("Page.navigate", url=address)
        self.wait_for_load()
        self.settle()

    def leave(self, script: str) -> None:
        """Run a script that leads to another page, and wait until that page is loaded."""
        self._browser.events[self._session].clear()
        self.run(f"void setTimeout(() => {{ {script} }})")
        self.wait_for_load()
        self.settle()

    def wait_for_load(self) -> None:
        """Wait until the page is loaded."""
        self._browser.wait_for(self._session, "Page.loadEventFired")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def settle(self) -> None:
        """Wait for two animation frames, after which deferred work is done; of the next page if this one is left."""
        for _ in range(_PAGES_LEFT):
            try:
                self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
            except PageLeft:
                continue
            return
        raise AssertionError("The page is being left again and again.")

    def press(self, *keys: str, shift: bool = False) -> None:
        """Press keys, one after the other."""
        for key in keys:
            text = "\r" if key == "Enter" else key if len(key) == 1 else ""
            shared = {
                "key": key,
                "windowsVirtualKeyCode": _CODES.get(key, ord(key[0].upper())),
                "modifiers": 8 if shift else 0,
            }
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **shared)
            self.call("Input.dispatchKeyEvent", type="keyUp", **shared)
        self.settle()

    def write(self, text: str) -> None:
        """Type a text where the focus is."""
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Click in the middle of the element that the selector finds."""
        x, y = self.run(
            f"""(() => {{ const found = document.querySelector({json.dumps(selector)});
            found.scrollIntoView({{ block: "center" }}); const box = found.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()"""
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def picture(self, path: Path) -> None:
        """Save a screenshot."""
        self.settle()
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    @property
    def complaints(self) -> list[str]:
        """Console messages and exceptions since the page was opened."""
        output = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        self.run("0")
        events = self._browser.events[self._session]
        return [json.dumps(event["params"]) for event in events if event["method"] in output]

    @property
    def requests(self) -> list[str]:
        """URLs requested since the page was opened."""
        self.run("0")
        events = self._browser.events[self._session]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def close(self) -> None:
        """Close the tab."""
        self._browser.call("Target.closeTarget", targetId=self._target)


def find_chromium() -> str:
    """Path of the browser; the test is skipped if there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no chromium on this machine")
    return found


@contextmanager
def chromium(command: str, profile: Path) -> Iterator[Browser]:
    """A browser with a fresh profile. It reads commands from file descriptor 3 and answers on 4."""
    commands_out, commands_in = os.pipe()
    answers_out, answers_in = os.pipe()
    shell = f'exec "$0" "$@" 3<&{commands_out} 4>&{answers_in}'
    process = subprocess.Popen(
        ["bash", "-c", shell, command, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        pass_fds=(commands_out, answers_in),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(commands_out)
    os.close(answers_in)
    with open(commands_in, "wb") as commands, open(answers_out, "rb") as answers:  # noqa: PTH123
        try:
            yield (browser := Browser(commands, answers))
            with suppress(AssertionError, OSError):
                browser.call("Browser.close")
        finally:
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
