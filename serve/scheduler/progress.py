"""Publish the progress of jobs: one poll of the store serves all subscribers of a job, and no slow one delays it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ape.errors import ApeError, UnknownJob
from ape.jobs.counts import JobCounts
from ape.jobs.job import Job, JobState
from ape.jobs.job_paragraph import JobParagraph
from ape.jobs.pace import JobPace
from ape.jobs.store import JobStore
from serve.middleware.server_sent_events import KEEP_ALIVE, KEEP_ALIVE_SECONDS, format_event
from serve.schemas.jobs import JobProgress

log = logging.getLogger("ape.serve")

POLL_SECONDS = 0.5
FINAL_STATES = frozenset({JobState.DONE, JobState.CANCELLED, JobState.FAILED})
# A slower subscriber loses the oldest events; counts are sent again, and the end is always the newest event.
MAX_BUFFERED_EVENTS = 500


@dataclass(slots=True, eq=False)
class _Subscriber:
    """A queue of events; None marks the end."""

    events: deque[str | None] = field(default_factory=lambda: deque(maxlen=MAX_BUFFERED_EVENTS))
    has_events: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, event: str | None) -> None:
        self.events.append(event)
        self.has_events.set()

    async def next(self) -> str | None:
        while not self.events:
            self.has_events.clear()
            try:
                async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                    await self.has_events.wait()
            except TimeoutError:
                return KEEP_ALIVE
        return self.events.popleft()


@dataclass(slots=True, eq=False)
class _Channel:
    """The subscribers of one job."""

    subscribers: set[_Subscriber] = field(default_factory=set)
    notified: asyncio.Event = field(default_factory=asyncio.Event)
    last: tuple[Job, JobCounts] | None = None
    task: asyncio.Task[None] | None = None

    def publish(self, event: str | None) -> None:
        for subscriber in self.subscribers:
            subscriber.put(event)


class JobProgressFeed:
    """The channels of all jobs that have subscribers."""

    def __init__(self, store: JobStore, pace_of: Callable[[str], JobPace | None]) -> None:
        self._store = store
        self._pace_of = pace_of
        self._channels: dict[str, _Channel] = {}
        self._closed = False

    @property
    def subscribers(self) -> int:
        """The number of subscribers of all jobs."""
        return sum(len(channel.subscribers) for channel in self._channels.values())

    def notify(self, job: str) -> None:
        """Poll the job now, since it has changed."""
        if channel := self._channels.get(job):
            channel.notified.set()

    def record_paragraph(self, row: JobParagraph, job: str) -> None:
        """Publish a paragraph that was finished or quarantined."""
        if channel := self._channels.get(job):
            result = row.result
            paragraph = {
                "id": row.planned.id,
                "decision": result.decision if result else "quarantined",
                "edit_rate": result.edit_rate if result else 0.0,
            }
            channel.publish(format_event("paragraph", paragraph))
            channel.notified.set()

    def close(self) -> None:
        """End all streams, present and future."""
        self._closed = True
        for channel in self._channels.values():
            channel.publish(None)

    async def subscribe(self, job: str) -> AsyncGenerator[str]:
        """Yield progress now and after every change, state changes, paragraphs, and end."""
        if self._closed:
            return
        channel, subscriber = self._channels.setdefault(job, _Channel()), _Subscriber()
        channel.subscribers.add(subscriber)
        if channel.task is None:
            channel.task = asyncio.create_task(self._watch(job, channel))
        elif channel.last:
            subscriber.put(self._progress_event(*channel.last))
        try:
            while (event := await subscriber.next()) is not None:
                yield event
        finally:
            channel.subscribers.discard(subscriber)
            if not channel.subscribers:
                await self._drop(job, channel)

    async def _drop(self, job: str, channel: _Channel) -> None:
        if self._channels.get(job) is channel:
            del self._channels[job]
        if channel.task:
            channel.task.cancel()
            await asyncio.gather(channel.task, return_exceptions=True)

    async def _watch(self, job: str, channel: _Channel) -> None:
        """Poll the job and publish its changes until it ends."""
        while not await self._poll(job, channel):
            began = time.monotonic()
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await channel.notified.wait()
            # At most two polls a second however many notifications come, except that the end is published at once.
            if channel.last and channel.last[1].waiting > 1:
                await asyncio.sleep(max(0.0, POLL_SECONDS - (time.monotonic() - began)))
            channel.notified.clear()
        if self._channels.get(job) is channel:
            del self._channels[job]  # a later subscriber gets a new channel, in case the job is resumed
        channel.publish(None)

    async def _poll(self, job: str, channel: _Channel) -> bool:
        """Publish what has changed, and return whether the job has ended."""
        try:
            now, counts = await asyncio.to_thread(lambda: (self._store.job(job), self._store.counts(job)))
        except UnknownJob:
            channel.publish(format_event("end", {"state": JobState.CANCELLED, "note": ""}))
            return True
        except ApeError as error:
            log.warning("progress of job %s can't be read: %s", job, error)
            return False
        before, channel.last = channel.last, (now, counts)
        state = {"state": now.state, "note": now.note}
        if before and (before[0].state, before[0].note) != (now.state, now.note):
            channel.publish(format_event("state", state))
        if not before or before[1] != counts:
            channel.publish(self._progress_event(now, counts))
        if now.state in FINAL_STATES:
            channel.publish(format_event("end", state))
        return now.state in FINAL_STATES

    def _progress_event(self, job: Job, counts: JobCounts) -> str:
        progress: dict[str, Any] = JobProgress.of(job, counts, self._pace_of(job.id)).model_dump(mode="json")
        return format_event("progress", progress)
