"""The number of threads follows the cores that other processes leave."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ape.engines.threads import ProcessorTimes, available_cores, choose_threads, read_processor_times, review_threads


@pytest.mark.parametrize(
    ("others", "threads"), [(0.0, 4), (0.4, 4), (0.5, 3), (1.4, 3), (1.6, 2), (3.2, 1), (9.0, 1), (None, 3)]
)
def test_an_engine_starts_with_the_cores_that_others_leave(others: float | None, threads: int) -> None:
    assert choose_threads(4, others) == threads


def test_a_single_core_is_always_used() -> None:
    assert choose_threads(1, None) == choose_threads(1, 1.0) == review_threads(1, 1, 5.0) == 1


@pytest.mark.parametrize("others", [0.3, 0.5, 0.7])
@pytest.mark.parametrize("current", [1, 2])
def test_a_load_between_two_choices_changes_nothing(current: int, others: float) -> None:
    assert review_threads(current, 2, others) == current


@pytest.mark.parametrize(("current", "others", "threads"), [(1, 0.1, 2), (2, 0.9, 1), (2, 0.0, 2), (1, 1.0, 1)])
def test_a_review_follows_a_clear_load(current: int, others: float, threads: int) -> None:
    assert review_threads(current, 2, others) == threads


def test_our_own_work_is_no_load_of_others() -> None:
    before, after = ProcessorTimes(0.0, 100.0, 10.0), ProcessorTimes(10.0, 115.0, 20.0)
    assert before.cores_used_by_others(after) == pytest.approx(0.5)  # 15 seconds, 10 of them our own, in 10 seconds


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="this system has no /proc/stat")
def test_processor_times_grow_with_work() -> None:
    before = read_processor_times()
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    after = read_processor_times()
    assert before
    assert after
    assert after.this_process - before.this_process >= 0.2
    assert after.all_processes - before.all_processes >= 0.1  # counted in ticks of 10 ms


def test_a_system_that_does_not_tell_is_unknown(tmp_path: Path) -> None:
    assert read_processor_times(tmp_path / "stat") is None
    (tmp_path / "stat").write_text("cpu0 a b c\n")
    assert read_processor_times(tmp_path / "stat") is None or "cpu0" not in {f"cpu{n}" for n in os.sched_getaffinity(0)}


@pytest.mark.parametrize(
    ("quota", "cores"), [("100000 100000", 1), ("50000 100000", 1), ("max 100000", None), ("", None)]
)
def test_the_quota_of_a_container_limits_the_cores(quota: str, cores: int | None, tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    assert available_cores(tmp_path / "cpu.max") == (cores or available_cores(tmp_path / "none"))
