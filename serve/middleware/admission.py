"""Limit how many passages and event streams are in the service; refuse the rest with a time to retry."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from ape.errors import Busy

# Event streams of one owner: each takes one of the connections of the service.
MAX_STREAMS = 100
_STREAM_RETRY_SECONDS = 10.0


class AdmissionLimit:
    """Count the passages in the service. The engine's own limit decides which is next."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.admitted = 0
        self._seconds_each = 1.0

    @contextmanager
    def admit(self, count: int) -> Iterator[None]:
        """Admit `count` passages for the length of the block, or raise Busy."""
        if self.admitted + count > self.capacity:
            raise Busy(
                f"{self.admitted} passages are waiting or in progress, of at most {self.capacity}. Try again later.",
                retry_after=min(60.0, max(1.0, (self.admitted + count - self.capacity) * self._seconds_each)),
            )
        self.admitted += count
        began = time.monotonic()
        try:
            yield
            # A running mean of the seconds per passage, shared by those in progress.
            shared = (time.monotonic() - began) / self.admitted
            self._seconds_each += 0.1 * (shared - self._seconds_each)
        finally:
            self.admitted -= count


class StreamLimit:
    """Count the event streams of each owner."""

    def __init__(self, capacity: int = MAX_STREAMS) -> None:
        self._capacity = capacity
        self._open: Counter[str] = Counter()

    @contextmanager
    def admit(self, owner: str) -> Iterator[None]:
        """Admit a stream for the length of the block, or raise Busy."""
        if self._open[owner] >= self._capacity:
            raise Busy(
                f"This key follows {self._capacity} jobs already. Close other streams first.",
                retry_after=_STREAM_RETRY_SECONDS,
            )
        self._open[owner] += 1
        try:
            yield
        finally:
            self._open[owner] -= 1
            if not self._open[owner]:
                del self._open[owner]
