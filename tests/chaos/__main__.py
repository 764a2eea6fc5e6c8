"""The long form of the chaos tests, with their figures: `make chaos`, or `python -m tests.chaos --minutes 30`."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.delayed_server import run_delayed_server
from tests.chaos.faults import Counts, fill_disk, fuzz_readers, jump_clock, kill_jobs, many_files, restart_database
from tests.chaos.service_faults import attack_service

FAILURES = (
    "bytes_lost", "paragraphs_lost", "requests_repeated", "files_left", "full_disks_unnoticed", "commands_that_died",
    "unexpected_errors", "honest_refused", "5xx", "service_books_lost", "service_stuck",
)  # fmt: skip


def run(minutes: float, seed: int) -> Counts:
    """Repeat all faults until the time is over, and print the figures after each of them."""
    counts, until = Counts(), time.monotonic() + 60 * minutes
    with run_delayed_server(0.15) as url:
        while not counts or time.monotonic() < until:
            with tempfile.TemporaryDirectory() as folder:
                for found in one_round(Path(folder), url, seed=seed):
                    counts += found
                    print(figures(counts), flush=True)
                    if time.monotonic() > until:
                        break
            seed += 1
    return counts


def figures(counts: Counts) -> str:
    """All counts in one line, zeros of failures too: a sum of counters drops them."""
    return ", ".join(f"{name} {counts[name]:,}" for name in sorted({*counts, *FAILURES}))


def one_round(folder: Path, url: str, *, seed: int, kills: int = 8, clients: int = 500) -> Iterator[Counts]:
    """Each fault once."""
    parts = {name: folder / name for name in ("kills", "disk", "database", "fuzz", "clock", "service")}
    for part in parts.values():
        part.mkdir()
    yield fuzz_readers(parts["fuzz"], count=5_000, seed=seed)
    yield fill_disk(parts["disk"], url)
    yield jump_clock(parts["clock"], url, seed=seed)
    yield kill_jobs(parts["kills"], url, kills=kills, paragraphs=60, seed=seed)
    yield restart_database(parts["database"], url)
    with many_files(4 * clients):
        yield attack_service(parts["service"], url, seed=seed, clients=clients, uploads=10)


def main() -> None:
    """Parse the arguments, run, and fail where something went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    counts = run(arguments.minutes, arguments.seed)
    failed = {name: counts[name] for name in FAILURES if counts[name]}
    print(f"Failed: {failed}" if failed else "Nothing was lost, repeated or left behind.")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
