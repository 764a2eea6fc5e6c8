"""The embedded engine on its real model: answers, windows, cancellation, and nothing left behind."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ape.engines import Sampling
from ape.engines.embedded import EmbeddedEngine, embedded_engine
from ape.errors import ModelError, TooLong
from ape.passage.events import ignore_event
from ape.passage.options import Options
from ape.passage.segment import Segment
from ape.post_editor import post_edit
from prompts import CHAT, Question

PROMPT = CHAT.render(Question("Il pleut.", "It rain today.", "French", "English"))
SAMPLING = Sampling(temperature=0, top_p=0.2, seed=1, max_tokens=24, max_characters=200)


def native_threads() -> int:
    """Threads that Python did not start."""
    return len(list(Path("/proc/self/task").iterdir())) - len(threading.enumerate())


async def test_a_draft_comes_back_and_the_same_seed_gives_the_same(smollm2: Path) -> None:
    async with embedded_engine(smollm2, name="tiny", concurrency=2, window=1024) as engine:
        model = (await engine.models())[0]
        assert (model.name, model.window) == ("tiny", 1024)
        first = await engine.ask(PROMPT, SAMPLING, model=model, listen=ignore_event)
        again = await engine.ask(PROMPT, SAMPLING, model=model, listen=ignore_event)
        assert first.draft.text.strip()
        assert first.draft == again.draft
        assert first.usage.prompt_tokens > 100
        assert await engine.count("Hello world") == 2  # "Hello", " world"


async def test_a_repeatable_engine_begins_every_prompt_at_the_same_token(smollm2: Path) -> None:
    """The cached tokens of each prompt show how much llama.cpp did not read again."""
    questions = [("Il pleut.", "It rain today."), ("Il neige.", "It snows."), ("Il pleut fort.", "It rain strong.")]
    prompts = [CHAT.render(Question(*question, "French", "English")) for question in questions]
    async with embedded_engine(smollm2, name="tiny", concurrency=1, window=1024, repeatable=True) as engine:
        model = (await engine.models())[0]
        kept: dict[str, set[int]] = {}
        for prompt in (*prompts, *reversed(prompts)):
            assert not isinstance(prompt.body, str)
            messages: Any = [{"role": turn.role, "content": turn.content} for turn in prompt.body]
            await engine._cache_prefix(messages[:-1], model)
            reply = await engine._client.chat.completions.create(model="tiny", messages=messages, max_tokens=4)
            timings = (reply.model_extra or {})["timings"]
            kept.setdefault(prompt.text, set()).add(timings["cache_n"])
        assert len(set.union(*kept.values())) == 1, kept
        assert min(set.union(*kept.values())) > 100  # the instructions and the example are not read again


async def test_the_order_in_which_passages_come_does_not_change_a_repeatable_engine(smollm2: Path) -> None:
    segments = [
        Segment("Il pleuvait des cordes.", "It rained ropes.", "fr", "en"),
        Segment("Claire posa son sac.", "Claire posed his bag.", "fr", "en"),
        Segment("On n’y voyait goutte.", "One saw there a drop not.", "fr", "en"),
    ]
    answers = []
    for order in (segments, segments[::-1]):
        async with embedded_engine(smollm2, name="tiny", concurrency=1, window=2048, repeatable=True) as engine:
            found = {one.mt: await post_edit(one, engine, options=Options(max_attempts=1)) for one in order}
            answers.append({mt: (result.post_edit, result.findings) for mt, result in found.items()})
    assert answers[0] == answers[1]


async def test_passages_share_the_engine_and_each_gets_its_own_answer(smollm2: Path) -> None:
    async with embedded_engine(smollm2, name="tiny", concurrency=4, window=1024) as engine:
        model = (await engine.models())[0]
        prompts = [
            CHAT.render(Question(f"{n} chats.", f"There is {n} cats.", "French", "English")) for n in range(2, 8)
        ]
        replies = await asyncio.gather(
            *(engine.ask(prompt, SAMPLING, model=model, listen=ignore_event) for prompt in prompts)
        )
        assert len({reply.draft.text for reply in replies}) == len(prompts)


async def test_cancelling_stops_the_generation_also_before_its_first_token(
    smollm2: Path, until: Callable[..., Any]
) -> None:
    async with embedded_engine(smollm2, name="tiny", concurrency=2) as engine:
        model = (await engine.models())[0]
        long = CHAT.render(Question("Il pleut. " * 200, "It rains. " * 200, "French", "English"))
        endless = Sampling(temperature=0, top_p=0.2, seed=1, max_tokens=2000, max_characters=100_000)
        tasks = [asyncio.create_task(engine.ask(long, endless, model=model, listen=ignore_event)) for _ in range(2)]
        await until(lambda: _is(engine, 2))
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(one, asyncio.CancelledError) for one in ended)
        await until(lambda: _is(engine, 0), seconds=60)


async def _is(engine: EmbeddedEngine, busy: int) -> bool:
    return await engine.busy() == busy


async def test_nothing_is_left_behind(smollm2: Path) -> None:
    # The first server starts llama.cpp's logging thread, which stays for the life of the process.
    async with embedded_engine(smollm2, name="tiny", concurrency=1, window=512):
        pass
    before = native_threads()
    async with embedded_engine(smollm2, name="tiny", concurrency=1, window=512) as engine:
        port = int(engine.url.split(":")[2].split("/")[0])
        assert native_threads() > before
    assert native_threads() == before
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


async def test_a_passage_beyond_the_window_is_refused_with_the_numbers(smollm2: Path) -> None:
    async with embedded_engine(smollm2, name="tiny", concurrency=1, window=1024) as engine:
        segment = Segment("Il pleut. " * 150, "It rains. " * 150, "fr", "en")
        with pytest.raises(TooLong, match=r"needs [\d,]+ tokens .* window of tiny holds 1,024") as caught:
            await post_edit(segment, engine)
        assert caught.value.limit == 1024
        assert (caught.value.actual or 0) > 1024
        assert await engine.busy() == 0


async def test_only_the_holder_of_the_key_is_answered(smollm2: Path) -> None:
    async with embedded_engine(smollm2, name="tiny", concurrency=1, window=512) as engine:
        from ape.engines.client import OpenAIEngine
        from ape.errors import EngineRefused

        async with OpenAIEngine(engine.url, api_key="wrong") as stranger:
            with pytest.raises(EngineRefused, match="401"):
                await stranger.ask(PROMPT, SAMPLING, model=(await engine.models())[0], listen=ignore_event)


async def test_a_broken_file_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + b"\xff" * 500)
    with pytest.raises(ModelError, match=r"broken\.gguf can't be loaded as a model"):
        async with embedded_engine(path, name="broken"):
            pass


async def test_another_number_of_threads_waits_for_drafts_and_loses_none(smollm2: Path) -> None:
    async with embedded_engine(smollm2, name="tiny", concurrency=2, window=1024, threads=1) as engine:
        model = (await engine.models())[0]
        address = engine.address
        asks = [asyncio.create_task(engine.ask(PROMPT, SAMPLING, model=model, listen=ignore_event)) for _ in range(3)]
        await asyncio.sleep(0)
        await engine.set_threads(2)
        replies = await asyncio.gather(*asks)
        assert {reply.draft.finish_reason for reply in replies} <= {"stop", "length"}
        assert (engine.threads, engine.address != address) == (2, True)
        assert await engine.count("Hello world") == 2
        assert (await engine.ask(PROMPT, SAMPLING, model=model, listen=ignore_event)).draft.text
