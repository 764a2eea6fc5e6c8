"""How a job goes, told to whoever listens: one look serves all listeners of a job, and none of them is waited for."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from ape.errors import ApeError, UnknownJob
from ape.jobs.counts import JobCounts
from ape.jobs.job import Job, JobState
from ape.jobs.job_paragraph import JobParagraph
from ape.jobs.result_rows import count_words
from ape.jobs.store import JobStore
from serve.routes.passage_stream import KEEP_ALIVE_SECONDS, MEDIA_TYPE
from serve.routes.passages import ClientGone, cancel_on_disconnect
from serve.schemas.jobs import JobProgress

log = logging.getLogger("ape.serve")

POLL_SECONDS = 0.5
FINAL_STATES = frozenset({JobState.DONE, JobState.CANCELLED, JobState.FAILED})
# A listener that falls behind by more than this misses the oldest; the numbers come again, and the end is the newest.
MAX_BUFFERED_EVENTS = 500
_RECENT = 500


class JobPace:
    """How fast a job is, over the last paragraphs that were finished here."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._words: deque[tuple[float, int]] = deque(maxlen=_RECENT)

    def step(self, row: JobParagraph) -> None:
        """One more is finished."""
        self._words.append((time.monotonic(), count_words(row.planned.mt)))

    @property
    def a_minute(self) -> float | None:
        """Paragraphs in a minute; None before the first."""
        return 60 * len(self._words) / self._seconds if self._words else None

    def seconds_left(self, words: int) -> float | None:
        """For so many words; None where that can't be told yet."""
        done = sum(count for _, count in self._words)
        return words * self._seconds / done if done else None

    @property
    def _seconds(self) -> float:
        since = self._words[0][0] if len(self._words) == _RECENT else self._began
        return max(1e-3, time.monotonic() - since)


@dataclass(slots=True, eq=False)
class _Listener:
    """One who listens. `None` is the end of the stream."""

    lines: deque[str | None] = field(default_factory=lambda: deque(maxlen=MAX_BUFFERED_EVENTS))
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, line: str | None) -> None:
        self.lines.append(line)
        self.news.set()

    async def next(self) -> str | None:
        while not self.lines:
            self.news.clear()
            try:
                async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                    await self.news.wait()
            except TimeoutError:
                return ": still here\n\n"
        return self.lines.popleft()


@dataclass(slots=True, eq=False)
class _Channel:
    """A job that somebody listens to."""

    listeners: set[_Listener] = field(default_factory=set)
    poked: asyncio.Event = field(default_factory=asyncio.Event)
    seen: tuple[Job, JobCounts] | None = None
    task: asyncio.Task[None] | None = None

    def tell(self, line: str | None) -> None:
        for listener in self.listeners:
            listener.put(line)


class JobProgressFeed:
    """All jobs that are listened to."""

    def __init__(self, store: JobStore, pace_of: Callable[[str], JobPace | None]) -> None:
        self._store = store
        self._pace_of = pace_of
        self._channels: dict[str, _Channel] = {}
        self._closed = False

    @property
    def listeners(self) -> int:
        """How many there are."""
        return sum(len(channel.listeners) for channel in self._channels.values())

    def poke(self, job: str) -> None:
        """Something changed about the job: look at once."""
        if channel := self._channels.get(job):
            channel.poked.set()

    def finished(self, row: JobParagraph, job: str) -> None:
        """Tell of a paragraph that was finished or given up."""
        if channel := self._channels.get(job):
            result = row.result
            told = {
                "id": row.planned.id,
                "decision": result.decision if result else "quarantined",
                "edit_rate": result.edit_rate if result else 0.0,
            }
            channel.tell(_line("paragraph", told))
            channel.poked.set()

    def close(self) -> None:
        """End all streams, now and from now on."""
        self._closed = True
        for channel in self._channels.values():
            channel.tell(None)

    async def follow(self, job: str) -> AsyncGenerator[str]:
        """The stream of a job: progress at once and after every change, state, paragraph, and end when it is over."""
        if self._closed:
            return
        channel, listener = self._channels.setdefault(job, _Channel()), _Listener()
        channel.listeners.add(listener)
        if channel.task is None:
            channel.task = asyncio.create_task(self._watch(job, channel))
        elif channel.seen:
            listener.put(_line("progress", self._told(*channel.seen)))
        try:
            while (line := await listener.next()) is not None:
                yield line
        finally:
            channel.listeners.discard(listener)
            if not channel.listeners:
                await self._drop(job, channel)

    async def _drop(self, job: str, channel: _Channel) -> None:
        if self._channels.get(job) is channel:
            del self._channels[job]
        if channel.task:
            channel.task.cancel()
            await asyncio.gather(channel.task, return_exceptions=True)

    async def _watch(self, job: str, channel: _Channel) -> None:
        """Look, tell what changed, and wait a little, until the job is over."""
        while not await self._look(job, channel):
            began = time.monotonic()
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await channel.poked.wait()
            # However often it is poked, twice a second is enough; but the end is told at once.
            if channel.seen and channel.seen[1].waiting > 1:
                await asyncio.sleep(max(0.0, POLL_SECONDS - (time.monotonic() - began)))
            channel.poked.clear()
        if self._channels.get(job) is channel:
            del self._channels[job]  # who comes now hears of the next life of the job, if it gets one
        channel.tell(None)

    async def _look(self, job: str, channel: _Channel) -> bool:
        """Whether the job is over."""
        try:
            now, counts = await asyncio.to_thread(self._see, job)
        except UnknownJob:
            channel.tell(_line("end", {"state": JobState.CANCELLED, "note": ""}))
            return True
        except ApeError as error:
            log.warning("the job %s can't be looked at: %s", job, error)
            return False
        before, channel.seen = channel.seen, (now, counts)
        state = {"state": now.state, "note": now.note}
        if before and (before[0].state, before[0].note) != (now.state, now.note):
            channel.tell(_line("state", state))
        if not before or before[1] != counts:
            channel.tell(_line("progress", self._told(now, counts)))
        if now.state in FINAL_STATES:
            channel.tell(_line("end", state))
        return now.state in FINAL_STATES

    def _see(self, job: str) -> tuple[Job, JobCounts]:
        return self._store.job(job), self._store.counts(job)

    def _told(self, job: Job, counts: JobCounts) -> dict[str, Any]:
        return JobProgress.of(job, counts, self._pace_of(job.id)).model_dump(mode="json")


class JobEventStream(Response):
    """The events of a job as an answer, for as long as somebody listens; see `serve.routes.passage_stream.EventStream`."""

    media_type = MEDIA_TYPE

    def __init__(self, events: AsyncGenerator[str]) -> None:
        super().__init__(headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self.events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events as they happen."""
        with suppress(ClientGone):
            await cancel_on_disconnect(Request(scope, receive), self._send(send))

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self.events) as lines:
            async for line in lines:
                await send({"type": "http.response.body", "body": line.encode(), "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def _line(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
