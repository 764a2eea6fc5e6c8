"""Read the passages of a request and post-edit each of them independently."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from pydantic import ValidationError

from ape.engines import Engine
from ape.errors import TooLong
from ape.passage.events import Listener, ignore_event
from ape.passage.intake import refuse_too_many_characters
from ape.passage.request import PostEditRequest
from ape.passage.result import PostEdit
from ape.post_editor import post_edit
from ape.settings import Settings
from serve.middleware.metrics import DraftCounter, ServiceMetrics
from serve.middleware.problems import Unreadable
from serve.middleware.request_body import read_json
from serve.middleware.request_log import log_problem, log_result

PassageQuestion = PostEditRequest | ValidationError
PassageOutcome = PostEdit | Exception


@dataclass(frozen=True, slots=True)
class PassageQuestions:
    """The passages of one request. In a list, an invalid passage does not affect the others."""

    questions: tuple[PassageQuestion, ...]
    is_list: bool


async def read_questions(request: Request, settings: Settings) -> PassageQuestions:
    """Read the body and validate each passage by itself."""
    content = await read_json(request, settings)
    if not isinstance(content, list):
        return PassageQuestions((_question(content),), is_list=False)
    if not content:
        raise Unreadable("The list of passages is empty.", status=422)
    if len(content) > (limit := max_passages_per_request(settings)):
        raise TooLong(
            f"The list has {len(content)} passages; at most {limit} are allowed. Send it in parts.",
            actual=len(content),
            limit=limit,
        )
    return PassageQuestions(tuple(_question(item) for item in content), is_list=True)


def max_passages_per_request(settings: Settings) -> int:
    """The most passages a request may have: a request larger than the queue could never be admitted."""
    return min(settings.max_passages, settings.max_queue)


def _question(content: Any) -> PassageQuestion:
    try:
        return PostEditRequest.model_validate(content)
    except ValidationError as error:
        return error


@dataclass(frozen=True, slots=True)
class PassageHandler:
    """Post-edit passages, count them in the metrics and log their outcomes."""

    engine: Engine
    settings: Settings
    metrics: ServiceMetrics

    async def handle(self, question: PassageQuestion, *, listen: Listener = ignore_event) -> PassageOutcome:
        """Return the result or the error; never raise, so that the other passages continue."""
        began, drafts = time.monotonic(), DraftCounter(listen)
        outcome = await self._post_edit(question, drafts)
        if isinstance(outcome, Exception):
            self.metrics.record_failure(outcome)
            log_problem(outcome)
        else:
            self.metrics.record_passage(outcome, time.monotonic() - began, drafts=drafts.count)
            log_result(outcome)
        return outcome

    async def _post_edit(self, question: PassageQuestion, listen: Listener) -> PassageOutcome:
        if isinstance(question, ValidationError):
            return question
        try:
            refuse_too_many_characters(question.source, question.mt, self.settings.max_characters)
            segment = await asyncio.to_thread(question.to_segment)
            return await post_edit(segment, self.engine, options=question.to_options(), listen=listen)
        except Exception as error:
            return error
