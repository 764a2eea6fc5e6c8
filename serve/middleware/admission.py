"""How much may wait: passages are admitted up to a number, and the rest is told when to come again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ape.errors import Busy


class AdmissionLimit:
    """Counts the passages in the house. It holds none: the engine's own limit decides who is next."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.held = 0
        self._seconds_each = 1.0

    @contextmanager
    def admit(self, count: int) -> Iterator[None]:
        """Let `count` passages in for the length of the block, or raise Busy."""
        if self.held + count > self.capacity:
            raise Busy(
                f"{self.held} passages are waiting or being worked on, and {self.capacity} may. Come again later.",
                retry_after=min(60.0, max(1.0, (self.held + count - self.capacity) * self._seconds_each)),
            )
        self.held += count
        began = time.monotonic()
        try:
            yield
            # A running mean, of what a passage took while the others in the house took theirs.
            shared = (time.monotonic() - began) / self.held
            self._seconds_each += 0.1 * (shared - self._seconds_each)
        finally:
            self.held -= count
