"""Post-edit passages for routes and batches: count them in the metrics and log their outcomes."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ape.engines import Engine
from ape.passage.events import Listener, ignore_event
from ape.passage.intake import refuse_too_many_characters
from ape.passage.request import PostEditRequest
from ape.passage.result import PostEdit
from ape.post_editor import post_edit
from ape.settings import Settings
from serve.middleware.metrics import DraftCounter, ServiceMetrics
from serve.middleware.request_log import log_problem, log_result

PassageQuestion = PostEditRequest | ValidationError
PassageOutcome = PostEdit | Exception


def parse_question(content: Any) -> PassageQuestion:
    """The passage, or why it is not valid."""
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
