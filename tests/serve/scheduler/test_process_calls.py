"""Calls in processes that are given up: after their time, without memory; who had much gives way to others."""

from __future__ import annotations

import os
import time

import pytest

from ape.errors import InputError
from serve.scheduler.process_calls import LOWEST_NICENESS, NICENESS, OutOfMemory, ProcessCalls, ProcessLimits, RecentUse

pytestmark = pytest.mark.subprocess
LIMITS = ProcessLimits(seconds=60.0, bytes=1_000_000_000)


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def take_memory(size: int) -> int:
    return len(bytearray(size))


def refuse(message: str) -> None:
    raise InputError(message, field="find")


async def test_a_call_returns_its_value_or_its_error() -> None:
    calls = ProcessCalls("test", at_once=1)
    assert await calls.call("a", LIMITS, take_memory, 1000) == 1000
    with pytest.raises(InputError, match="No"):
        await calls.call("a", LIMITS, refuse, "No")


async def test_a_call_ends_with_its_time_and_its_memory() -> None:
    calls = ProcessCalls("test", at_once=1)
    with pytest.raises(TimeoutError):
        await calls.call("a", ProcessLimits(0.2, LIMITS.bytes), time.sleep, 3600)
    with pytest.raises(OutOfMemory):
        await calls.call("a", LIMITS, take_memory, 2 * LIMITS.bytes)


async def test_an_owner_who_had_much_gives_way_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"NICENESS": NICENESS, "LOWEST_NICENESS": LOWEST_NICENESS}.items():
        monkeypatch.setattr(f"serve.scheduler.process_calls.{name}", value)  # other tests are in a hurry
    calls = ProcessCalls("test", at_once=1)
    here = niceness()
    calls._used.add("busy", 60.0)
    assert await calls.call("busy", LIMITS, niceness) == max(here, LOWEST_NICENESS)
    assert await calls.call("other", LIMITS, niceness) == max(here, NICENESS)


def test_what_an_owner_had_is_forgotten_by_halves() -> None:
    now = [0.0]
    used = RecentUse(lambda: now[0])
    used.add("a", 8.0)
    now[0] = 60.0
    assert used.seconds("a") == pytest.approx(4.0)
    used.add("a", 1.0)
    assert used.seconds("a") == pytest.approx(5.0)
    assert used.seconds("b") == 0.0
