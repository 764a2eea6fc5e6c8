"""Checks that work takes time in proportion to its input, on busy machines too."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

# Linear work takes 16 times as long for 16 times the input, quadratic work 256 times: the bound is four times away from
# both, farther than the CPU time of a busy machine strays.
_SPAN = 16
_LARGEST_RATIO = 64
_NEGLIGIBLE_SECONDS = 0.3
_TRIES = 2


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Fail if 16 times the size takes four times as long as it should, each time it is tried."""
    ratios = []
    for _ in range(_TRIES):
        large = _seconds(work, _SPAN * size)
        if large < _NEGLIGIBLE_SECONDS:
            return
        small = _seconds(work, size)
        ratios.append(large / max(small, _NEGLIGIBLE_SECONDS / _LARGEST_RATIO))
        if ratios[-1] < _LARGEST_RATIO:
            return
    pytest.fail(f"{_SPAN} times the input took {min(ratios):.1f} times as long, {large:.2f} seconds.")


def _seconds(work: Callable[[int], object], size: int) -> float:
    """The CPU time of this thread, without collections of garbage that other tests left.

    None is collected first either: walking the objects of a whole test run takes longer than most of this work.
    """
    gc.disable()
    began = time.thread_time()
    try:
        work(size)
    finally:
        gc.enable()
    return time.thread_time() - began
