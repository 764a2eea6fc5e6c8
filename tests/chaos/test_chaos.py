"""The short form of the chaos tests: each fault once or a few times. `make chaos` has the long form."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from ape.settings import Settings
from benchmarks.delayed_server import run_delayed_server
from serve.middleware.connections import limited_protocol
from tests.chaos.__main__ import FAILURES, figures
from tests.chaos.faults import Counts, fill_disk, fuzz_readers, many_files, stall_clients
from tests.chaos.small_service import small_service
from tests.scripted import running

# Kills and restarts of the database are in tests/ape/jobs/test_kills.py.


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with run_delayed_server(0.02) as url:
        yield url


@pytest.mark.subprocess
def test_a_full_disk_is_told_and_nothing_is_asked_again(tmp_path: Path, url: str) -> None:
    counts = fill_disk(tmp_path, url)
    assert (counts["full_disks"], counts["full_disks_unnoticed"], counts["requests_repeated"]) == (1, 0, 0)


@pytest.mark.slow
def test_mutated_books_are_read_or_refused(tmp_path: Path) -> None:
    counts = fuzz_readers(tmp_path, count=300, seed=7)
    assert counts["unexpected_errors"] == 0
    assert counts["refused"] > 0


def test_honest_clients_are_served_beside_stalled_ones(service_settings: Settings) -> None:
    with many_files(1000), running(small_service(), http=limited_protocol(service_settings)) as address:
        place = "127.0.0.1", int(address.rpartition(":")[2])
        counts = asyncio.run(stall_clients(place, stalled=100, honest=100))
    assert (counts["honest_served"], counts["5xx"]) == (100, 0)


def test_the_figures_name_what_did_not_go_wrong_too() -> None:
    shown = figures(Counts(kills=2) + Counts(bytes_lost=0))
    assert "kills 2" in shown
    assert all(f"{name} 0" in shown for name in FAILURES)
