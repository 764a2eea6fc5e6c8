"""The line of jobs that wait: whose turn is next, and when one that the model server failed is tried again."""

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
    """When a job is tried again, and how long that was to wait."""

    until: float
    seconds: float


class JobQueue:
    """Remembers whose turn was when, and who rests. It holds no job: who is in it is told each time."""

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}
        self._owner_turns: dict[str, int] = {}
        self._resting: dict[str, _Backoff] = {}

    def first(self, waiting: Sequence[Job], at_work: Iterable[Job]) -> Job:
        """Of the owner who has the fewest jobs at work, and then whose turn was longest ago."""
        hands = Counter(job.owner for job in at_work)

        def place(job: Job) -> tuple[int, int, int, float]:
            turns = self._owner_turns.get(job.owner, 0), self._turns.get(job.id, 0)
            return hands[job.owner], *turns, job.created.timestamp()

        return min(waiting, key=place)

    def took_turn(self, job: Job) -> None:
        """It goes to the end of the line, and so does its owner."""
        turn = 1 + max(self._owner_turns.values(), default=0)
        self._turns[job.id] = self._owner_turns[job.owner] = turn

    def rest(self, id: str) -> float:
        """It is not tried again for so many seconds, which are more each time."""
        before = self._resting.get(id)
        seconds = min(MAX_BACKOFF_SECONDS, 2 * before.seconds) if before else BACKOFF_SECONDS
        self._resting[id] = _Backoff(time.monotonic() + seconds, seconds)
        return seconds

    def rests(self, id: str) -> bool:
        """Whether it is not to be tried yet."""
        rest = self._resting.get(id)
        return rest is not None and rest.until > time.monotonic()

    def wake(self, id: str) -> None:
        """It works, or somebody wants it to; the next rest is a short one again."""
        self._resting.pop(id, None)

    def seconds_left(self) -> list[float]:
        """Until each of those that rest is tried again."""
        now = time.monotonic()
        return [rest.until - now for rest in self._resting.values() if rest.until > now]

    def forget_all_but(self, ids: set[str]) -> None:
        """Only these are in it any more."""
        self._turns = {one: turn for one, turn in self._turns.items() if one in ids}
        self._resting = {one: rest for one, rest in self._resting.items() if one in ids}
