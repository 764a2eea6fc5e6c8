"""Work on the passages of a request: in order, each on its own, and no longer than somebody waits for them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from ape.engines import Engine
from ape.errors import TooLong
from ape.passage.events import Listener, ignore_event
from ape.passage.result import PostEdit
from ape.post_editor import post_edit
from ape.settings import Settings
from serve.middleware.metrics import DraftCounter, ServiceMetrics
from serve.middleware.problems import Unreadable
from serve.middleware.request_log import log_problem, log_result
from serve.schemas.passages import PostEditRequest

T = TypeVar("T")
PassageQuestion = PostEditRequest | ValidationError
PassageOutcome = PostEdit | Exception


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True, slots=True)
class PassageQuestions:
    """The questions of one request. In a list each stands alone: one that is no good does not spoil the rest."""

    questions: tuple[PassageQuestion, ...]
    is_list: bool


async def read_json(request: Request, settings: Settings) -> Any:
    """The body, within the limits."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Unreadable(
            f"The body is to be application/json, not {kind or 'of no stated type'}.", status=415
        )
    return _parse(await _read_body(request, settings.max_body_bytes))


async def read_request(request: Request, settings: Settings) -> PassageQuestions:
    """Read the body, and parse each question by itself."""
    content = await read_json(request, settings)
    if not isinstance(content, list):
        return PassageQuestions((_question(content),), is_list=False)
    if not content:
        raise Unreadable("The list of passages is empty.", status=422)
    if len(content) > (limit := max_passages_per_request(settings)):
        raise TooLong(
            f"The list has {len(content)} passages and may have {limit}. Send it in parts.",
            actual=len(content),
            limit=limit,
        )
    return PassageQuestions(tuple(_question(item) for item in content), is_list=True)


def max_passages_per_request(settings: Settings) -> int:
    """How many passages a request may have: more than the queue holds would be told to come again for ever."""
    return min(settings.max_passages, settings.max_queue)


async def _read_body(request: Request, limit: int) -> bytes:
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > limit:
                raise TooLong(f"The body is larger than {limit:,} bytes.", actual=len(body), limit=limit)
    except ClientDisconnect as error:
        raise ClientGone from error
    return bytes(body)


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"The body is not JSON: {error}.") from error


def _question(content: Any) -> PassageQuestion:
    try:
        return PostEditRequest.model_validate(content)
    except ValidationError as error:
        return error


@dataclass(frozen=True, slots=True)
class PassageHandler:
    """Where a passage is worked on, and what became of it is counted and noted."""

    engine: Engine
    settings: Settings
    metrics: ServiceMetrics

    async def answer(self, question: PassageQuestion, *, listen: Listener = ignore_event) -> PassageOutcome:
        """The result, or the error that stands in its place: whatever it is, the other passages go on."""
        began, drafts = time.monotonic(), DraftCounter(listen)
        outcome = await self._work(question, drafts)
        if isinstance(outcome, Exception):
            self.metrics.failed(outcome)
            log_problem(outcome)
        else:
            self.metrics.passage(outcome, time.monotonic() - began, drafts=drafts.count)
            log_result(outcome)
        return outcome

    async def _work(self, question: PassageQuestion, listen: Listener) -> PassageOutcome:
        if isinstance(question, ValidationError):
            return question
        try:
            refuse_too_long(question, self.settings.max_characters)
            segment = await asyncio.to_thread(question.to_segment)
            return await post_edit(segment, self.engine, options=question.to_options(), listen=listen)
        except Exception as error:
            return error


def refuse_too_long(question: PostEditRequest, limit: int) -> None:
    """Raise where a side of the passage is longer than allowed, with the numbers."""
    for field, text in (("source", question.source), ("mt", question.mt)):
        if len(text) > limit:
            raise TooLong(
                f"{field} has {len(text):,} characters and may have {limit:,}. Split it at a paragraph.",
                actual=len(text),
                limit=limit,
                field=field,
            )


async def cancel_on_disconnect(request: Request, work: Awaitable[T]) -> T:
    """The result of the work, which is cancelled when the client hangs up."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return task.result()
    finally:
        for one in (task, gone):
            one.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
