"""The order of waiting jobs: whose turn is next, who gives way, and back-off after the model server failed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ape.jobs.job import Job

BACKOFF_SECONDS = 5.0
MAX_BACKOFF_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class _Backoff:
    until: float
    seconds: float


class RunningTurn(Protocol):
    """A running job since its start. After it is preempted it finishes its paragraphs in progress."""

    job: Job
    began: float
    is_preempted: bool


Turn = TypeVar("Turn", bound=RunningTurn)


def choose_preempted(running: Iterable[Turn], waiting: Sequence[Job], *, now: float, turn_seconds: float) -> list[Turn]:
    """The jobs that give way to waiting ones.

    An owner with several running jobs gives way at once to one with none. Else a job gives way when its turn is over,
    the longest-running first.
    """
    running = sorted(running, key=lambda turn: turn.began)
    staying = [turn for turn in running if not turn.is_preempted]
    places = len(running) - len(staying)
    held = Counter(turn.job.owner for turn in staying)
    chosen: list[Turn] = []
    owners_without = {job.owner for job in waiting} - {turn.job.owner for turn in running}
    for _ in range(len(owners_without) - places):
        owner, count = max(held.items(), key=lambda item: item[1], default=("", 0))
        if count < 2:
            break
        chosen.append(next(turn for turn in staying if turn.job.owner == owner and turn not in chosen))
        held[owner] -= 1
    over = [turn for turn in staying if turn not in chosen and now - turn.began >= turn_seconds]
    return chosen + over[: max(0, len(waiting) - len(chosen) - places)]


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
