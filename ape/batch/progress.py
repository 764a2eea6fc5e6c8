"""Counts the paragraphs that the actors of a batch have finished."""

from __future__ import annotations


class ProgressCounter:
    """Finished and failed paragraphs since the run began."""

    def __init__(self) -> None:
        self._done = 0
        self._failed = 0

    def add(self, done: int, failed: int) -> None:
        """Count paragraphs."""
        self._done += done
        self._failed += failed

    def counts(self) -> tuple[int, int]:
        """Finished and failed so far."""
        return self._done, self._failed
