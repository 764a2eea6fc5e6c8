"""Limit how many passages are in the service; refuse the rest with a time to retry."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ape.errors import Busy


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
