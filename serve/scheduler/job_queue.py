"""The order of waiting jobs: whose turn is next, and back-off after the model server failed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ape.jobs.job import Job

BACKOFF_SECONDS = 5.0
MAX_BACKOFF_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class _Backoff:
    until: float
    seconds: float


class JobQueue:
    """Remember turns and back-off by job id. The jobs themselves are passed in each time."""

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}
        self._owner_turns: dict[str, int] = {}
        self._backoff: dict[str, _Backoff] = {}

    def next_job(self, waiting: Sequence[Job], running: Iterable[Job]) -> Job:
        """Pick the job of the owner with the fewest running jobs, then of the longest wait since the last turn."""
        running_by_owner = Counter(job.owner for job in running)

        def priority(job: Job) -> tuple[int, int, int, float]:
            turns = self._owner_turns.get(job.owner, 0), self._turns.get(job.id, 0)
            return running_by_owner[job.owner], *turns, job.created.timestamp()

        return min(waiting, key=priority)

    def record_turn(self, job: Job) -> None:
        """Move the job and its owner to the end of the queue."""
        turn = 1 + max(self._owner_turns.values(), default=0)
        self._turns[job.id] = self._owner_turns[job.owner] = turn

    def back_off(self, id: str) -> float:
        """Delay the job and return the seconds, which double each time."""
        before = self._backoff.get(id)
        seconds = min(MAX_BACKOFF_SECONDS, 2 * before.seconds) if before else BACKOFF_SECONDS
        self._backoff[id] = _Backoff(time.monotonic() + seconds, seconds)
        return seconds

    def is_backing_off(self, id: str) -> bool:
        """Whether the job is delayed at the moment."""
        delay = self._backoff.get(id)
        return delay is not None and delay.until > time.monotonic()

    def clear_backoff(self, id: str) -> None:
        """End the delay; the next one is short again."""
        self._backoff.pop(id, None)

    def seconds_left(self) -> list[float]:
        """Return the remaining delay of each delayed job."""
        now = time.monotonic()
        return [delay.until - now for delay in self._backoff.values() if delay.until > now]

    def keep_only(self, ids: set[str]) -> None:
        """Forget all other jobs."""
        self._turns = {job: turn for job, turn in self._turns.items() if job in ids}
        self._backoff = {job: delay for job, delay in self._backoff.items() if job in ids}
