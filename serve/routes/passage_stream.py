"""Server-sent events: what happens to each passage, as it happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, aclosing, suppress
from dataclasses import asdict
from typing import Any

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from ape.passage.events import AttemptEvent, DoneEvent, Event, FindingEvent, RetryEvent, TokenEvent
from serve.middleware.problems import problem_from_error
from serve.routes.passages import (
    ClientGone,
    PassageHandler,
    PassageOutcome,
    PassageQuestion,
    PassageQuestions,
    cancel_on_disconnect,
)
from serve.schemas.passages import FindingOut, PostEditResponse

KEEP_ALIVE_SECONDS = 15.0
MEDIA_TYPE = "text/event-stream"


class PassageEventStream(Response):
    """The events as an answer. Its passages are in the queue until all work on them has ended.

    Not Starlette's StreamingResponse: when the client hangs up, that one leaves the generator to be closed by the
    garbage collector, and cancels whatever the generator awaits on its way out.
    """

    media_type = MEDIA_TYPE

    def __init__(
        self, asked: PassageQuestions, admitted: AbstractContextManager[None], desk: PassageHandler
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self.admitted = admitted
        self.events = passage_events(asked, desk)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events as they happen, for as long as somebody listens."""
        # A full queue is still a 429 here, since nothing was sent yet.
        with self.admitted, suppress(ClientGone):
            await cancel_on_disconnect(Request(scope, receive), self._send(send))

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self.events) as lines:
            async for line in lines:
                await send({"type": "http.response.body", "body": line.encode(), "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def passage_events(asked: PassageQuestions, desk: PassageHandler) -> AsyncGenerator[str]:
    """The stream of a request: attempt, token, retry, finding, then result or error, for each passage; then end.

    In a list every event carries the `index` of its passage. Closing the stream cancels what is under way.
    """
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    async def follow(index: int, question: PassageQuestion) -> None:
        extra = {"index": index} if asked.is_list else {}

        def tell(event: Event) -> None:
            if not isinstance(event, DoneEvent):
                lines.put_nowait(_line(*_described(event), extra))

        outcome = await desk.answer(question, listen=tell)
        lines.put_nowait(_line(*_closing(outcome, question), extra))

    async def follow_all() -> None:
        try:
            await asyncio.gather(*(follow(index, one) for index, one in enumerate(asked.questions)))
        finally:
            lines.put_nowait(None)

    work = asyncio.ensure_future(follow_all())
    try:
        while (line := await _next(lines)) is not None:
            yield line
        await work
        yield _line("end", {"passages": len(asked.questions)}, {})
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def _next(lines: asyncio.Queue[str | None]) -> str | None:
    try:
        # Not `wait_for`: in Python 3.11 it forgets that it was cancelled if a line comes in at that moment.
        async with asyncio.timeout(KEEP_ALIVE_SECONDS):
            return await lines.get()
    except TimeoutError:
        return ": still at work\n\n"


def _described(event: Event) -> tuple[str, dict[str, Any]]:
    match event:
        case AttemptEvent():
            return "attempt", asdict(event)
        case TokenEvent():
            return "token", asdict(event)
        case RetryEvent():
            return "retry", asdict(event)
        case FindingEvent(finding):
            return "finding", FindingOut.model_validate(finding, from_attributes=True).model_dump(mode="json")
        case DoneEvent(result):
            return "result", PostEditResponse.of(result).model_dump(mode="json")


def _closing(outcome: PassageOutcome, question: PassageQuestion) -> tuple[str, dict[str, Any]]:
    if isinstance(outcome, Exception):
        return "error", problem_from_error(outcome, mt=getattr(question, "mt", None)).to_json()
    return _described(DoneEvent(outcome))


def _line(name: str, data: dict[str, Any], extra: dict[str, int]) -> str:
    return f"event: {name}\ndata: {json.dumps({**extra, **data})}\n\n"
