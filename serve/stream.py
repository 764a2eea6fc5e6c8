"""Server-sent events: what happens to each passage, as it happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from ape.engines import Engine
from ape.events import Attempt, Done, Event, Found, Retry, Token
from ape.settings import Settings
from serve.problems import problem_of
from serve.schema import FindingOut, PostEditResponse
from serve.work import Asked, Outcome, Question, answer

KEEP_ALIVE_SECONDS = 15.0


async def events(asked: Asked, engine: Engine, settings: Settings) -> AsyncIterator[str]:
    """The stream of a request: attempt, token, retry, finding, then result or error, for each passage; then end.

    In a list every event carries the `index` of its passage. Closing the stream cancels what is under way.
    """
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    async def follow(index: int, question: Question) -> None:
        extra = {"index": index} if asked.is_list else {}

        def tell(event: Event) -> None:
            if not isinstance(event, Done):
                lines.put_nowait(_line(*_described(event), extra))

        outcome = await answer(question, engine, settings, listen=tell)
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
        return await asyncio.wait_for(lines.get(), KEEP_ALIVE_SECONDS)
    except TimeoutError:
        return ": still at work\n\n"


def _described(event: Event) -> tuple[str, dict[str, Any]]:
    match event:
        case Attempt():
            return "attempt", asdict(event)
        case Token():
            return "token", asdict(event)
        case Retry():
            return "retry", asdict(event)
        case Found(finding):
            return "finding", FindingOut.model_validate(finding, from_attributes=True).model_dump(mode="json")
        case Done(result):
            return "result", PostEditResponse.of(result).model_dump(mode="json")


def _closing(outcome: Outcome, question: Question) -> tuple[str, dict[str, Any]]:
    if isinstance(outcome, Exception):
        return "error", problem_of(outcome, mt=getattr(question, "mt", None)).to_json()
    return _described(Done(outcome))


def _line(name: str, data: dict[str, Any], extra: dict[str, int]) -> str:
    return f"event: {name}\ndata: {json.dumps({**extra, **data})}\n\n"
