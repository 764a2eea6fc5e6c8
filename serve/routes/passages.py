"""Read the passages of a request, each validated by itself."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from ape.errors import TooLong
from ape.settings import Settings
from serve.middleware.problems import Unreadable
from serve.middleware.request_body import read_json
from serve.scheduler.passage_handler import PassageQuestion, parse_question


@dataclass(frozen=True, slots=True)
class PassageQuestions:
    """The passages of one request. In a list, an invalid passage does not affect the others."""

    questions: tuple[PassageQuestion, ...]
    is_list: bool


async def read_questions(request: Request, settings: Settings) -> PassageQuestions:
    """Read the body and validate each passage by itself."""
    content = await read_json(request, settings)
    if not isinstance(content, list):
        return PassageQuestions((parse_question(content),), is_list=False)
    if not content:
        raise Unreadable("The list of passages is empty.", status=422)
    if len(content) > (limit := max_passages_per_request(settings)):
        raise TooLong(
            f"The list has {len(content)} passages; at most {limit} are allowed. Send it in parts.",
            actual=len(content),
            limit=limit,
        )
    return PassageQuestions(tuple(parse_question(item) for item in content), is_list=True)


def max_passages_per_request(settings: Settings) -> int:
    """The most passages a request may have: a request larger than the queue could never be admitted."""
    return min(settings.max_passages, settings.max_queue)
