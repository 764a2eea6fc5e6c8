"""The client of all engines: retries, limits, cancellation, and lists of models."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from ape.engines import Model, Sampling
from ape.engines.client import OpenAIEngine
from ape.engines.retry import RetryPolicy
from ape.errors import EngineError, EngineRefused, EngineTimeout, EngineUnavailable, TooLong, UnknownModel
from ape.passage.events import Event, RetryEvent, TokenEvent, ignore_event
from ape.passage.result import Usage
from prompts import CHAT, Question
from tests.scripted import Cut, Fail, Hang, Move, Raw, Say, ScriptedServer

PROMPT = CHAT.render(Question("Il pleut.", "It rains.", "French", "English"))
SAMPLING = Sampling(temperature=0, top_p=0.2, seed=1, max_tokens=50, max_characters=200)
MODEL = Model("scripted")
QUICK = RetryPolicy(attempts=3, first_wait=0.01, longest_wait=0.02, total_seconds=5)


@pytest.fixture
async def engine(request: pytest.FixtureRequest, scripted: ScriptedServer) -> AsyncIterator[OpenAIEngine]:
    """With a short timeout only for a server that hangs, so that a busy machine causes no retry."""
    hangs = "fault" in request.fixturenames and isinstance(request.getfixturevalue("fault"), Hang)
    timeout = 0.3 if hangs else 30.0
    async with OpenAIEngine(scripted.url, api_key="k", concurrency=2, timeout_seconds=timeout, retry=QUICK) as opened:
        yield opened


async def test_the_pieces_of_a_stream_make_the_draft(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    scripted.play(Say("It is raining very hard today."))
    heard: list[Event] = []
    reply = await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=heard.append)
    assert reply.draft.text == "It is raining very hard today."
    assert "".join(event.text for event in heard if isinstance(event, TokenEvent)) == reply.draft.text
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (100, 20)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fail(500), EngineError),
        (Fail(502), EngineError),
        (Fail(503), EngineUnavailable),
        (Fail(504), EngineTimeout),
        (Fail(408), EngineTimeout),
        (Fail(429, (("retry-after", "0"),)), EngineUnavailable),
        (Hang(), EngineTimeout),
        (Cut("It is"), EngineUnavailable),
        (Raw("data: {no json\n\n"), EngineError),
        (Raw('data: {"choices": []}\n\ndata: [DONE]\n\n'), EngineError),
        (Raw('data: {"error": {"message": "out of memory"}}\n\n'), EngineError),
        (Raw("<html>Bad gateway</html>", "text/html"), EngineError),
        (Raw(""), EngineError),
    ],
)
class TestPassingFaults:
    async def test_are_asked_again_and_a_good_answer_then_counts(
        self, engine: OpenAIEngine, scripted: ScriptedServer, fault: Move, error: type[EngineError]
    ) -> None:
        scripted.play(fault, fault, Say("It is raining."))
        heard: list[Event] = []
        reply = await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=heard.append)
        assert reply.draft.text == "It is raining."
        assert len([event for event in heard if isinstance(event, RetryEvent)]) == 2

    async def test_are_told_when_they_do_not_pass(
        self, engine: OpenAIEngine, scripted: ScriptedServer, fault: Move, error: type[EngineError]
    ) -> None:
        scripted.play(fault)
        with pytest.raises(error):
            await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)
        assert len(scripted.requests) == QUICK.attempts


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_refusal_is_not_asked_again(engine: OpenAIEngine, scripted: ScriptedServer, status: int) -> None:
    scripted.play(Fail(status))
    with pytest.raises(EngineRefused, match="scripted failure"):
        await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)
    assert len(scripted.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        '{"error": {"message": "too long", "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 5}}',
        '{"error": {"message": "too long", "code": "context_length_exceeded"}}',
    ],
)
async def test_a_passage_beyond_the_window_is_the_callers_to_mend(
    engine: OpenAIEngine, scripted: ScriptedServer, body: str
) -> None:
    scripted.play(Fail(400, body=body))
    with pytest.raises(TooLong, match="too long"):
        await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)


async def test_retry_after_is_waited_for(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    scripted.play(Fail(429, (("retry-after", "0.4"),)), Say("It is raining."))
    heard: list[Event] = []
    began = time.monotonic()
    await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=heard.append)
    assert time.monotonic() - began >= 0.4
    assert [event.wait_seconds for event in heard if isinstance(event, RetryEvent)] == [0.4]


async def test_a_wait_beyond_the_cap_is_not_begun(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    scripted.play(Fail(429, (("retry-after", "3600"),)))
    with pytest.raises(EngineUnavailable) as caught:
        await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)
    assert caught.value.retry_after == 3600
    assert len(scripted.requests) == 1


async def test_an_unreachable_server_is_a_sentence() -> None:
    async with OpenAIEngine("http://127.0.0.1:9/v1", api_key="k", retry=QUICK) as engine:
        with pytest.raises(EngineUnavailable, match="can't be reached"):
            await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)
        with pytest.raises(EngineUnavailable, match="can't be reached"):
            await engine.models()


async def test_no_more_requests_are_in_flight_than_allowed(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    scripted.play(Say("It is raining very hard today.", pause=0.02))
    await asyncio.gather(*(engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event) for _ in range(8)))
    assert scripted.most_active == 2


async def test_a_run_away_is_stopped_early(
    engine: OpenAIEngine, scripted: ScriptedServer, until: Callable[..., Any]
) -> None:
    scripted.play(Say("again and " * 2_000, pause=0.001))
    reply = await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)
    assert reply.draft.finish_reason == "length"
    assert SAMPLING.max_characters < len(reply.draft.text) < SAMPLING.max_characters + 20
    await until(lambda: scripted.active == 0)


async def test_cancelling_hangs_up(engine: OpenAIEngine, scripted: ScriptedServer, until: Callable[..., Any]) -> None:
    scripted.play(Say("It is raining. " * 10, pause=0.2))
    task = asyncio.create_task(engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event))
    await until(lambda: scripted.active == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: scripted.active == 0)
    assert scripted.hung_up == 1


async def test_a_parameter_the_server_does_not_know_is_left_out(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    def script(request: dict[str, Any], turn: int) -> Move:
        for name in ("max_tokens", "temperature"):
            if name in request:
                error = {"message": "no", "code": "unsupported_parameter", "param": name}
                return Fail(400, body=json.dumps({"error": error}))
        return Say("It is raining.")

    scripted.script = script
    reply = await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)
    assert reply.draft.text == "It is raining."
    assert scripted.requests[-1]["max_completion_tokens"] == SAMPLING.max_tokens
    await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)
    assert len(scripted.requests) == 4  # three to learn, one the second time


class TestPrediction:
    """OpenAI's predicted outputs: the MT is sent as what the answer will mostly be."""

    @pytest.fixture
    async def predicting(self, scripted: ScriptedServer) -> AsyncIterator[OpenAIEngine]:
        async with OpenAIEngine(scripted.url, api_key="k", retry=QUICK, prediction=True) as opened:
            yield opened

    async def test_the_mt_is_predicted_without_a_limit_of_tokens(
        self, predicting: OpenAIEngine, scripted: ScriptedServer
    ) -> None:
        scripted.play(Say("It is raining."))
        await predicting.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)
        (request,) = scripted.requests
        assert request["prediction"] == {"type": "content", "content": "<translation>\nIt rains.\n</translation>"}
        assert not request.keys() & {"max_tokens", "max_completion_tokens"}

    async def test_accepted_and_rejected_tokens_are_in_the_usage(
        self, predicting: OpenAIEngine, scripted: ScriptedServer
    ) -> None:
        details = {"accepted_prediction_tokens": 9, "rejected_prediction_tokens": 2}
        usage = {"prompt_tokens": 80, "completion_tokens": 14, "completion_tokens_details": details}
        events = [
            {"choices": [{"index": 0, "delta": {"content": "It is raining."}, "finish_reason": "stop"}]},
            {"choices": [], "usage": usage},
        ]
        scripted.play(Raw("".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"))
        reply = await predicting.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)
        assert (reply.usage + reply.usage) == Usage(160, 28, 18, 4)

    async def test_a_model_without_predictions_is_asked_without(
        self, predicting: OpenAIEngine, scripted: ScriptedServer
    ) -> None:
        error = {"message": "no", "code": "unsupported_parameter", "param": "prediction"}
        scripted.script = lambda request, turn: (
            Fail(400, body=json.dumps({"error": error})) if "prediction" in request else Say("It is raining.")
        )
        for _ in range(2):
            reply = await predicting.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)
        assert reply.draft.text == "It is raining."
        assert ["prediction" in request for request in scripted.requests] == [True, False, False]
        assert scripted.requests[-1]["max_tokens"] == SAMPLING.max_tokens

    async def test_log_probabilities_come_without_a_prediction(
        self, predicting: OpenAIEngine, scripted: ScriptedServer
    ) -> None:
        scripted.play(Say("It is raining."))
        await predicting.ask(PROMPT, replace(SAMPLING, alternatives=5), model=MODEL, listen=ignore_event)
        assert "prediction" not in scripted.requests[0]


async def test_the_window_is_what_the_server_tells(engine: OpenAIEngine) -> None:
    assert await engine.models() == (Model("scripted", 32768),)
    async with engine.using("default") as model:
        assert model == Model("scripted", 32768)


async def test_an_unknown_model_is_named_with_those_there_are(engine: OpenAIEngine) -> None:
    with pytest.raises(UnknownModel, match=r"'other' here. There is: default, scripted"):
        async with engine.using("other"):
            pass


async def test_the_model_of_the_command_line_comes_first(scripted: ScriptedServer) -> None:
    async with OpenAIEngine(scripted.url, api_key="k", default_model="mine") as engine:
        assert [model.name for model in await engine.models()] == ["mine", "scripted"]


async def test_a_server_without_a_list_is_asked_for_the_model_that_was_named(scripted: ScriptedServer) -> None:
    scripted.listing = Fail(404)
    try:
        async with OpenAIEngine(scripted.url, api_key="k", default_model="mine", retry=QUICK) as engine:
            assert await engine.models() == (Model("mine"),)
        async with OpenAIEngine(scripted.url, api_key="k", retry=QUICK) as engine:
            with pytest.raises(EngineRefused):
                await engine.models()
    finally:
        scripted.listing = None


async def test_a_cap_beyond_the_window_is_dropped_before_the_passage_is(
    engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    message = "This model's maximum context length is 2048 tokens. However, you requested 2209 tokens."
    too_long = Fail(400, body=json.dumps({"error": {"message": message, "type": "BadRequestError"}}))
    scripted.play(too_long, Say("It is raining."))
    reply = await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)
    assert reply.draft.text == "It is raining."
    assert "max_tokens" in scripted.requests[0]
    assert "max_tokens" not in scripted.requests[1]
    scripted.play(too_long)
    with pytest.raises(TooLong) as caught:
        await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)
    assert (caught.value.limit, caught.value.actual) == (2048, 2209)


async def test_an_answer_that_is_no_stream_is_told_as_that(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    scripted.play(Raw('{"choices": [{"message": {"content": "It is raining."}}]}', "application/json"))
    with pytest.raises(EngineError, match="does not stream"):
        await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=ignore_event)


async def test_retry_after_may_be_a_date(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    scripted.play(Fail(429, (("retry-after", "Mon, 16 Nov 2026 00:00:00 GMT"),)), Say("It is raining."))
    heard: list[Event] = []
    await engine.ask(PROMPT, SAMPLING, model=MODEL, listen=heard.append)
    assert [event.wait_seconds for event in heard if isinstance(event, RetryEvent)] == [0.0]  # a date long past
