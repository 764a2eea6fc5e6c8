"""How long a book takes while another key uploads hostile files: `python -m benchmarks.studies.hostile_upload`.

The same book is sent with and without the hostile key's uploads, by turns, to one service and a model that takes a
fixed time. Run it on an otherwise idle machine: planning shares the processor with whatever else runs.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.delayed_server import run_delayed_server
from tests.ape.jobs.kill_study import Pair, make_pair
from tests.chaos.service_faults import HONEST, HOSTILE, LANGUAGES, client, running_service, send_book

# Of reading Markdown, the pattern that takes longest.
PATTERN = b"*a* "
_POLL_SECONDS = 0.05
_END_SECONDS = 600.0


@contextmanager
def hostile_uploads(address: str, size: int) -> Iterator[list[int]]:
    """Upload a hostile file again and again for the length of the block; the statuses come in the list."""
    statuses: list[int] = []
    stopped = threading.Event()
    content = PATTERN * (size // len(PATTERN))

    def attack() -> None:
        with client(address, HOSTILE) as hostile:
            while not stopped.is_set():
                files = {"source": ("a.md", content), "mt": ("b.md", content + b"b")}  # equal files are refused
                answer = hostile.post("/v1/books", files=files, data=LANGUAGES)
                statuses.append(answer.status_code)
                if answer.status_code == 201:
                    hostile.delete(f"/v1/jobs/{answer.json()['id']}")

    thread = threading.Thread(target=attack)
    thread.start()
    try:
        yield statuses
    finally:
        stopped.set()
        thread.join()


def edit_seconds(address: str, pair: Pair) -> float:
    """The time from sending a book until it is done."""
    with client(address, HONEST) as honest:
        began = time.monotonic()
        job = send_book(honest, pair)
        while time.monotonic() < began + _END_SECONDS:
            state = honest.get(f"/v1/jobs/{job}").json()["state"]
            if state == "done":
                seconds = time.monotonic() - began
                honest.delete(f"/v1/jobs/{job}")
                return seconds
            assert state == "running", state
            time.sleep(_POLL_SECONDS)
    raise TimeoutError(f"the book was not done within {_END_SECONDS:.0f} seconds")


def main() -> None:
    """Measure pairs of runs by turns, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--paragraphs", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=0.15, help="what the model takes for a paragraph")
    parser.add_argument("--size", type=int, default=1_000_000, help="bytes of a hostile file")
    given = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory() as folder, run_delayed_server(given.seconds) as url:
        pair = make_pair(Path(folder), given.paragraphs)
        with running_service(Path(folder), url) as (_, address):
            edit_seconds(address, pair)  # the first book imports what planning needs
            for number in range(given.pairs):
                alone, beside, uploads = _pair_of_runs(address, pair, given.size, attacked_first=number % 2 == 1)
                ratios.append(beside / alone)
                counts = ", ".join(f"{count} of status {status}" for status, count in sorted(Counter(uploads).items()))
                print(f"alone {alone:.2f} s, beside {beside:.2f} s, {ratios[-1]:.2f}; uploads: {counts}", flush=True)
    print(f"median {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) of {len(ratios)} pairs")


def _pair_of_runs(address: str, pair: Pair, size: int, *, attacked_first: bool) -> tuple[float, float, list[int]]:
    alone = 0.0 if attacked_first else edit_seconds(address, pair)
    with hostile_uploads(address, size) as uploads:
        time.sleep(1.0)  # the first of them is being planned
        beside = edit_seconds(address, pair)
    return alone or edit_seconds(address, pair), beside, uploads


if __name__ == "__main__":
    main()
