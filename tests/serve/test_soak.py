"""The service on the embedded engine leaks nothing when clients disconnect."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from ape.engines import Sampling
from ape.engines.embedded import embedded_engine
from ape.passage.events import Event, RetryEvent
from ape.passage.result import Decision
from prompts import Message, Prompt
from prompts.escaping import escape_delimiters
from tests.serve.soak import CONCURRENCY, plans, play, soak_service

HALF = 100
# After warm-up, 100 requests added 0.3 to 2.2 MB; with llama.cpp's prompt cache enabled, 100 MB.
MEGABYTES = 10
# The engine's HTTP pool may add a few threads under load; a leak would add about a hundred.
POOL = 4


def test_two_hundred_clients_are_answered_and_those_who_hang_up_leave_nothing_behind(
    smollm2: Path, tmp_path: Path
) -> None:
    with soak_service(smollm2, tmp_path) as service:
        asyncio.run(play(service.address, plans(CONCURRENCY, seed=0)))
        before = service.settle()
        outcomes = asyncio.run(play(service.address, plans(HALF, seed=1)))
        halfway = service.settle()
        outcomes += asyncio.run(play(service.address, plans(HALF, seed=2)))
        after = service.settle(threads=before.threads + POOL)

    retried = outcomes.pop("retried after 429")
    left = outcomes.pop("left")
    assert retried > 0
    assert HALF / 2 < left < HALF
    answered = Counter({name: outcomes.pop(name) for name in list(outcomes) if name in list(Decision)})
    assert not outcomes, "some connected clients got no decision"
    assert answered.total() + left == 2 * HALF

    assert (after.busy_slots, after.held) == (0, 0)
    assert after.tasks == before.tasks
    assert after.threads <= before.threads + POOL
    assert after.descriptors <= before.descriptors
    assert after.megabytes <= halfway.megabytes + MEGABYTES


async def test_no_request_meets_a_connection_that_the_engine_has_closed(smollm2: Path) -> None:
    """With keep-alive, 1 in 50 immediate follow-up requests failed and was retried."""
    prompt = Prompt((Message("user", "Hi."),), "test", escape_delimiters("Hi."), opening="<a>", stop=("</a>",))
    sampling = Sampling(temperature=0, top_p=1, seed=1, max_tokens=2, max_characters=100)
    events: list[Event] = []
    async with embedded_engine(smollm2, name="smollm2", concurrency=1, window=512) as engine:
        model = (await engine.models())[0]
        for _ in range(150):
            await engine.ask(prompt, sampling, model=model, listen=events.append)
    assert not [event for event in events if isinstance(event, RetryEvent)]
