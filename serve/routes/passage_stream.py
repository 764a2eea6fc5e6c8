"""Server-sent events of the passages of a request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import asdict
from typing import Any

from ape.passage.events import AttemptEvent, DoneEvent, Event, FindingEvent, RetryEvent, TokenEvent
from serve.middleware.problems import problem_from_error
from serve.middleware.server_sent_events import KEEP_ALIVE, KEEP_ALIVE_SECONDS, format_event
from serve.routes.passages import PassageQuestions
from serve.scheduler.passage_handler import PassageHandler, PassageOutcome, PassageQuestion
from serve.schemas.passages import FindingOut, PostEditResponse

PROGRESS_EVENTS = {AttemptEvent: "attempt", TokenEvent: "token", RetryEvent: "retry"}


async def passage_events(passages: PassageQuestions, handler: PassageHandler) -> AsyncGenerator[str]:
    """Yield attempt, token, retry and finding events, then result or error for each passage, then end.

    In a list every event has the `index` of its passage. Closing the generator cancels the work.
    """
    events: asyncio.Queue[str | None] = asyncio.Queue()

    async def follow(index: int, question: PassageQuestion) -> None:
        extra = {"index": index} if passages.is_list else {}

        def emit(name: str, data: dict[str, Any]) -> None:
            events.put_nowait(format_event(name, extra | data))

        def listen(event: Event) -> None:
            if not isinstance(event, DoneEvent):
                emit(*_progress(event))

        emit(*_outcome(await handler.handle(question, listen=listen), question))

    async def follow_all() -> None:
        try:
            await asyncio.gather(*(follow(*numbered) for numbered in enumerate(passages.questions)))
        finally:
            events.put_nowait(None)

    work = asyncio.ensure_future(follow_all())
    try:
        while (event := await _next_event(events)) is not None:
            yield event
        await work
        yield format_event("end", {"passages": len(passages.questions)})
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def _next_event(events: asyncio.Queue[str | None]) -> str | None:
    try:
        # Not `wait_for`: in Python 3.11 it loses a cancellation that comes at the same moment as an item.
        async with asyncio.timeout(KEEP_ALIVE_SECONDS):
            return await events.get()
    except TimeoutError:
        return KEEP_ALIVE


def _progress(event: AttemptEvent | TokenEvent | RetryEvent | FindingEvent) -> tuple[str, dict[str, Any]]:
    if isinstance(event, FindingEvent):
        return "finding", FindingOut.model_validate(event.finding, from_attributes=True).model_dump(mode="json")
    return PROGRESS_EVENTS[type(event)], asdict(event)


def _outcome(outcome: PassageOutcome, question: PassageQuestion) -> tuple[str, dict[str, Any]]:
    if isinstance(outcome, Exception):
        return "error", problem_from_error(outcome, mt=getattr(question, "mt", None)).to_json()
    return "result", PostEditResponse.of(outcome).model_dump(mode="json")
