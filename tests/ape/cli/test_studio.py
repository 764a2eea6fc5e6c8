"""`ape studio` lets in the browser that opens the printed address, once, and nobody else; books outlive kill -9."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.scripted import Hang, Say, ScriptedServer, translation_in
from tests.serve.book_library import LANGUAGES, files, look, wait_for, wait_until_done

pytestmark = pytest.mark.subprocess

APE = Path(sys.executable).parent / "ape"


@contextmanager
def running_studio(folder: Path, url: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the address that it prints."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("APE_", "OPENAI_"))}
    homes = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), str(folder))
    command = [str(APE), "studio", "--no-browser", "--port", "0", "--url", url]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder, env=clean | homes
    )
    try:
        assert process.stderr
        lines = "".join(process.stderr.readline() for _ in range(3))
        found = re.search(r"Open (http://127\.0\.0\.1:\d+/enter/\S+)", lines)
        assert found, lines
        yield process, found[1]
    finally:
        process.kill()
        process.communicate()


def enter(client: httpx2.Client, entry: str) -> httpx2.Client:
    """Open the one-time address, and send the token of the session from now on."""
    assert client.get(entry).status_code == 303
    return with_token(client)


def with_token(client: httpx2.Client) -> httpx2.Client:
    found = re.search(r'name="csrf-token" content="(\w+)"', client.get("/books", headers={"Accept": "text/html"}).text)
    assert found
    client.headers["X-CSRF-Token"] = found[1]
    return client


def test_a_studio_is_entered_once_and_its_books_survive_a_kill(tmp_path: Path, scripted: ScriptedServer) -> None:
    scripted.script = lambda request, turn: Say(translation_in(request)) if turn < 2 else Hang()
    with running_studio(tmp_path, scripted.url) as (process, entry):
        address = entry.partition("/enter/")[0]
        with httpx2.Client(base_url=address, timeout=300) as stranger:
            assert stranger.get("/v1/jobs").status_code == 401
            assert stranger.get("/", headers={"Accept": "text/html"}).headers["location"] == "/login?to=/"
        with httpx2.Client(base_url=address, timeout=300) as client:
            enter(client, entry)
            job = client.post("/v1/books", files=files(4), data=LANGUAGES).json()["id"]
            wait_for(client, job, lambda one: one["counts"]["unchanged"] == 2)
            cookies = dict(client.cookies)
        with httpx2.Client(base_url=address, timeout=300) as second:
            assert second.get(entry).status_code == 403
        process.send_signal(signal.SIGKILL)
        process.wait()
    scripted.script = lambda request, turn: Say(translation_in(request))
    with running_studio(tmp_path, scripted.url) as (_, entry):
        address = entry.partition("/enter/")[0]
        with httpx2.Client(base_url=address, timeout=300, cookies=cookies) as client:
            with_token(client)  # the open tab goes on: its session outlives the service
            assert look(client, job)["counts"]["unchanged"] >= 2
            assert wait_until_done(client, job)["counts"]["unchanged"] == 4
            assert client.get(f"/v1/jobs/{job}/result").status_code == 200
