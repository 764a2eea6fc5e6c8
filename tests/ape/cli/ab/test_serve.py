"""`ape ab serve` as a subprocess: links, stored votes, and a clean stop."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from eval.human.trial_file import read_trial
from eval.human.trial_store import TrialStore
from tests.ape.cli.conftest import APE, Run

pytestmark = pytest.mark.subprocess


@dataclass
class Served:
    """A running `ape ab serve`, its address, and the printed links by name."""

    process: subprocess.Popen[str]
    bound: str
    links: dict[str, str]

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        self.process.communicate(timeout=300)
        return self.process.returncode


Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start the service and wait until it is ready."""
    started: list[subprocess.Popen[str]] = []
    environment = {name: value for name, value in os.environ.items() if not name.startswith("APE_")}

    def start(*words: str) -> Served:
        process = subprocess.Popen(
            [str(APE), "ab", "serve", "trial.json", "--store", "votes.db", "--port", "0", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment | {"HOME": str(tmp_path)},
        )
        started.append(process)
        assert process.stderr
        assert process.stdout
        ready = process.stderr.readline()
        assert ready.startswith("Ready on"), ready + process.communicate()[1]
        links: dict[str, str] = {}
        while "results" not in links:
            name, output = process.stdout.readline().rstrip("\n").split("  ", 1)
            links[name] = output
        return Served(process, ready.split()[2].rstrip("."), links)

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_vote_through_a_link_is_stored_and_the_link_works_after_a_restart(
    serve: Serve, trial: Path, tmp_path: Path
) -> None:
    served = serve()
    link = served.links["anna"]
    with httpx2.Client(timeout=300) as client:
        assert client.get(link).status_code == 200
        item = client.get(f"{link}/sheet").json()["items"][0]["id"]
        for _ in range(2):  # a double submit
            assert client.put(f"{link}/votes/{item}", json={"choice": "second"}).status_code == 200
        assert client.put(f"{link}/votes/nothing", json={"choice": "second"}).status_code == 404
        assert client.get(link[:-1]).status_code == 404
        assert client.get(served.links["results"]).status_code == 200
    assert served.stop() == 0
    with TrialStore(str(tmp_path / "votes.db")) as trials:
        assert [(vote.item, vote.choice) for vote in trials.votes(read_trial(trial).id)] == [(item, "second")]
    again = serve("--raters", "anna,cara")
    assert "already has a link" in again.links["anna"]
    address = again.links["cara"].partition("/ab/")[0]
    with httpx2.Client(timeout=300) as client:
        sheet = client.get(f"{address}/ab/r/{link.rpartition('/')[2]}/sheet").json()
    assert [vote["item"] for vote in sheet["votes"]] == [item]
    assert again.stop(signal.SIGTERM) == 0


def test_behind_a_proxy_the_results_need_a_key(serve: Serve, trial: Path) -> None:
    served = serve("--address", "https://tests.example.org/")
    assert served.links["anna"].startswith("https://tests.example.org/ab/r/")
    place, _, key = served.links["results"].partition("  (key: ")
    local = f"{served.bound}{place.removeprefix('https://tests.example.org')}"
    with httpx2.Client(timeout=300) as client:
        assert client.get(local).status_code == 401
        printed = {"Authorization": f"Bearer {key.rstrip(')')}"}
        assert client.get(local, headers=printed).status_code == 200


def test_a_trial_without_raters_is_refused(here: Run, files: tuple[str, ...]) -> None:
    assert here("ab", "make", *files, "-o", "trial.json").returncode == 0
    done = here("ab", "serve", "trial.json", "--store", "votes.db")
    assert done.returncode == 2
    assert "name them with --raters anna,ben" in done.stderr
