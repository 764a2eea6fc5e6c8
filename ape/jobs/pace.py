"""Measure how fast a job proceeds."""

from __future__ import annotations

import time
from collections import deque

from ape.jobs.job_paragraph import JobParagraph
from ape.jobs.result_rows import count_words

_WINDOW = 500


class JobPace:
    """The rate of a job over its last paragraphs."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._words: deque[tuple[float, int]] = deque(maxlen=_WINDOW)

    def record(self, row: JobParagraph) -> None:
        """Count a finished paragraph."""
        self._words.append((time.monotonic(), count_words(row.planned.mt)))

    @property
    def paragraphs_per_minute(self) -> float | None:
        """The rate, or None before the first paragraph."""
        return 60 * len(self._words) / self._seconds if self._words else None

    def seconds_left(self, words: int) -> float | None:
        """Estimate the time for this many words, or None before the first paragraph."""
        done = sum(count for _, count in self._words)
        return words * self._seconds / done if done else None

    @property
    def _seconds(self) -> float:
        since = self._words[0][0] if len(self._words) == _WINDOW else self._began
        return max(1e-3, time.monotonic() - since)
