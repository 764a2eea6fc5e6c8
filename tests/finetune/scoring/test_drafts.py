"""Cached drafts: requested once, resumed after an interruption, and never those of other weights."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from ape.engines.client import OpenAIEngine
from ape.errors import EngineError, InputError
from ape.passage.segment import TokenLogprobs
from finetune.data.example import Example
from finetune.scoring.drafts import draft_examples, load_drafts
from tests.scripted import Fail, Raw, ScriptedServer

EXAMPLES = [Example(f"{at}", "b", f"Chat {at}.", f"The cat {at}.", f"A cat {at}.", "fr", "en") for at in range(6)]


@pytest.fixture
async def engine(scripted: ScriptedServer) -> AsyncIterator[OpenAIEngine]:
    async with OpenAIEngine(scripted.url, api_key="k") as opened:
        yield opened


async def test_each_example_is_asked_for_once(engine: OpenAIEngine, scripted: ScriptedServer, tmp_path: Path) -> None:
    path = tmp_path / "drafts.jsonl"
    first = await draft_examples(engine, "default", EXAMPLES[:4], path, key="a", concurrency=2)
    again = await draft_examples(engine, "default", EXAMPLES, path, key="a", concurrency=2)
    assert len(scripted.requests) == 6
    assert first.draft(EXAMPLES[0]) == again.draft(EXAMPLES[0])
    assert again.draft(EXAMPLES[5]).text == EXAMPLES[5].mt


async def test_a_line_that_was_cut_off_is_asked_for_again(
    engine: OpenAIEngine, scripted: ScriptedServer, tmp_path: Path
) -> None:
    path = tmp_path / "drafts.jsonl"
    await draft_examples(engine, "default", EXAMPLES[:2], path, key="a", concurrency=1)
    content = path.read_text()
    path.write_text(content[:-40])
    made = await draft_examples(engine, "default", EXAMPLES[:2], path, key="a", concurrency=1)
    assert len(scripted.requests) == 3
    assert made.draft(EXAMPLES[1]).text == EXAMPLES[1].mt
    reread = await draft_examples(engine, "default", EXAMPLES[:2], path, key="a", concurrency=1)
    assert (len(scripted.requests), len(reread.replies_by_prompt_hash)) == (3, 2)


async def test_a_row_that_was_changed_is_asked_for_again(
    engine: OpenAIEngine, scripted: ScriptedServer, tmp_path: Path
) -> None:
    path = tmp_path / "drafts.jsonl"
    await draft_examples(engine, "default", EXAMPLES[:2], path, key="a", concurrency=1)
    changed = [replace(EXAMPLES[0], mt="The dog 0."), EXAMPLES[1]]
    made = await draft_examples(engine, "default", changed, path, key="a", concurrency=1)
    assert len(scripted.requests) == 3
    assert made.draft(changed[0]).text == "The dog 0."


async def test_drafts_that_were_kept_are_those_that_were_sent(tmp_path: Path, scripted: ScriptedServer) -> None:
    logprobs = {
        "content": [{"token": "A cat", "logprob": -0.0004, "top_logprobs": [{"token": "The", "logprob": -7.7}]}]
    }
    choice = {"index": 0, "delta": {"content": "A cat"}, "logprobs": logprobs, "finish_reason": "stop"}
    event = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    scripted.play(Raw(f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n"))
    async with OpenAIEngine(scripted.url, api_key="k") as engine:
        fresh = await draft_examples(engine, "default", EXAMPLES[:1], tmp_path / "d", key="a", concurrency=1)
        cached = await draft_examples(engine, "default", EXAMPLES[:1], tmp_path / "d", key="a", concurrency=1)
    assert fresh.replies_by_prompt_hash == cached.replies_by_prompt_hash
    assert cached.draft(EXAMPLES[0]).logprobs == (TokenLogprobs("A cat", -0.0004, (("The", -7.7),)),)


async def test_a_row_that_does_not_fit_the_window_has_no_draft_and_stops_nothing(
    engine: OpenAIEngine, scripted: ScriptedServer, tmp_path: Path
) -> None:
    echo = scripted.script
    long = '{"error": {"message": "too long for the context", "type": "exceed_context_size_error"}}'
    scripted.script = lambda request, count: Fail(400, body=long) if "cat 1" in str(request) else echo(request, count)
    made = await draft_examples(engine, "default", EXAMPLES[:3], tmp_path / "d", key="a", concurrency=1)
    assert [made.draft(one).text for one in EXAMPLES[:3]] == ["The cat 0.", "", "The cat 2."]


async def test_a_place_that_is_not_there_is_a_sentence(engine: OpenAIEngine, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"can't be written to .*nowhere"):
        await draft_examples(engine, "default", EXAMPLES[:1], tmp_path / "nowhere" / "d", key="a", concurrency=1)


async def test_drafts_of_other_weights_are_not_taken(
    engine: OpenAIEngine, scripted: ScriptedServer, tmp_path: Path
) -> None:
    path = tmp_path / "drafts.jsonl"
    await draft_examples(engine, "default", EXAMPLES[:2], path, key="a", concurrency=1)
    await draft_examples(engine, "default", EXAMPLES[:2], path, key="b", concurrency=1)
    assert len(scripted.requests) == 4


async def test_drafts_are_read_without_an_engine_if_they_are_all_there(engine: OpenAIEngine, tmp_path: Path) -> None:
    path = tmp_path / "drafts.jsonl"
    made = await draft_examples(engine, "default", EXAMPLES[:4], path, key="a", concurrency=1)
    assert load_drafts(made.model, EXAMPLES[:4], path, key="a") == made
    assert load_drafts(made.model, EXAMPLES[:5], path, key="a") is None
    assert load_drafts(made.model, EXAMPLES[:4], path, key="b") is None
    assert load_drafts(made.model, EXAMPLES[:4], tmp_path / "gone", key="a") is None


async def test_what_was_drafted_before_a_failure_is_kept(scripted: ScriptedServer, tmp_path: Path) -> None:
    path = tmp_path / "drafts.jsonl"
    echo = scripted.script
    scripted.script = lambda request, count: Fail(400) if "cat 3" in str(request) else echo(request, count)
    async with OpenAIEngine(scripted.url, api_key="k") as engine:
        with pytest.raises(EngineError):
            await draft_examples(engine, "default", EXAMPLES, path, key="a", concurrency=1)
        scripted.script = echo
        before = len(scripted.requests)
        await draft_examples(engine, "default", EXAMPLES, path, key="a", concurrency=1)
    assert len(scripted.requests) - before == 3
