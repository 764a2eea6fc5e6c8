"""Faults against the whole service: hostile uploads, stalled clients and kills while another book is edited."""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from tests.ape.jobs.kill_study import Pair, make_pair
from tests.chaos.faults import SAMPLES, Counts, mutate, stall_clients

HONEST, HOSTILE = "honest-key-for-the-chaos-tests", "hostile-key-for-the-chaos-tests"
LANGUAGES = {"source_language": "fr", "target_language": "en"}
_END_SECONDS = 900.0


@contextmanager
def running_service(folder: Path, engine_url: str, *, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `ape serve` with two keys on the data of a folder."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("APE_", "OPENAI_"))}
    homes = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), str(folder))
    keys = {"APE_API_KEYS": f"{HONEST},{HOSTILE}"}
    words = [sys.executable, "-m", "ape.cli.main", "serve", "--port", str(port), "--url", engine_url]
    with (folder / "requests.log").open("a") as log:
        process = subprocess.Popen(words, stdout=log, stderr=subprocess.PIPE, text=True, env=clean | homes | keys)
    try:
        yield process, _address(process)
    finally:
        process.kill()
        process.communicate()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr
    for line in process.stderr:
        if found := re.search(r"http://[\d.:]+\d", line):
            return found.group()
    raise AssertionError(f"the service ended with code {process.wait()}")


def client(address: str, key: str) -> httpx2.Client:
    """A client with a key."""
    return httpx2.Client(base_url=address, timeout=900, headers={"Authorization": f"Bearer {key}"})


def send_book(service: httpx2.Client, pair: Pair) -> str:
    """Upload a book and return the id of its job."""
    files = {name: (path.name, path.read_bytes()) for name, path in (("source", pair.source), ("mt", pair.mt))}
    answer = service.post("/v1/books", files=files, data=LANGUAGES)
    assert answer.status_code in (200, 201, 202), answer.text
    return str(answer.json()["id"])


def wait_for_end(service: httpx2.Client, job: str) -> str:
    """Wait until a job ends, and return its state."""
    until = time.monotonic() + _END_SECONDS
    while time.monotonic() < until:
        state = str(service.get(f"/v1/jobs/{job}").json()["state"])
        if state != "running":
            return state
        time.sleep(0.5)
    return "not finished"


def attack_service(folder: Path, engine_url: str, *, seed: int, clients: int, uploads: int) -> Counts:
    """Hostile uploads and stalled clients while an honest book is edited, a kill of the service, and a SIGTERM."""
    chance, counts = random.Random(seed), Counts()
    pair = make_pair(folder, 40)
    with running_service(folder, engine_url) as (process, address), client(address, HONEST) as honest:
        job = send_book(honest, pair)
        counts += _send_bad_books(address, chance, uploads)
        place = "127.0.0.1", int(address.rpartition(":")[2])
        counts += asyncio.run(stall_clients(place, stalled=clients, honest=clients))
        process.send_signal(signal.SIGKILL)
        process.wait()
        counts["kills"] += 1
    with running_service(folder, engine_url) as (process, address), client(address, HONEST) as honest:
        counts["service_books"] += 1
        counts["service_books_lost"] += wait_for_end(honest, job) != "done"
        counts += _send_bad_books(address, chance, uploads)
        process.send_signal(signal.SIGTERM)
        counts["service_stuck"] += _is_stuck(process)
    return counts


def _send_bad_books(address: str, chance: random.Random, uploads: int) -> Counts:
    """Upload mutated books with the hostile key; each is taken or refused, never a 5xx."""
    counts = Counts()
    with client(address, HOSTILE) as hostile:
        for _ in range(uploads):
            suffix = chance.choice(list(SAMPLES))
            bad = mutate(SAMPLES[suffix], chance, packed=False)
            files = {"source": (f"a{suffix}", SAMPLES[suffix]), "mt": (f"b{suffix}", bad)}
            status = hostile.post("/v1/books", files=files, data=LANGUAGES).status_code
            counts["bad_uploads"] += 1
            counts["5xx"] += status >= 500
            counts["uploads_refused"] += 400 <= status < 500
    return counts


def _is_stuck(process: subprocess.Popen[str]) -> bool:
    try:
        return process.wait(timeout=60) != 0
    except subprocess.TimeoutExpired:
        return True
