"""Drafts that are kept: asked for once, gone on with after a break, and never those of other weights."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ape.engines.client import OpenAIEngine
from ape.errors import EngineError
from finetune.drafting import draft_all
from finetune.example import Example
from tests.scripted import Fail, ScriptedServer

EXAMPLES = [
    Example(f"{at}", "b", f"Chat {at}.", f"The cat {at}.", f"A cat {at}.", "fr", "en") for at in range(6)
]


@pytest.fixture
async def engine(scripted: ScriptedServer) -> AsyncIterator[OpenAIEngine]:
    async with OpenAIEngine(scripted.url, api_key="k") as opened:
        yield opened


async def test_each_example_is_asked_for_once(
    engine: OpenAIEngine, scripted: ScriptedServer, tmp_path: Path
) -> None:
    path = tmp_path / "drafts.jsonl"
    first = await draft_all(engine, "default", EXAMPLES[:4], path, key="a", at_once=2)
    again = await draft_all(engine, "default", EXAMPLES, path, key="a", at_once=2)
    assert len(scripted.requests) == 6
    assert first.draft(EXAMPLES[0]) == again.draft(EXAMPLES[0])
    assert again.draft(EXAMPLES[5]).text == EXAMPLES[5].mt


async def test_a_line_that_was_cut_off_is_asked_for_again(
    engine: OpenAIEngine, scripted: ScriptedServer, tmp_path: Path
) -> None:
    path = tmp_path / "drafts.jsonl"
    await draft_all(engine, "default", EXAMPLES[:2], path, key="a", at_once=1)
    content = path.read_text()
    path.write_text(content[:-40])
    made = await draft_all(engine, "default", EXAMPLES[:2], path, key="a", at_once=1)
    assert len(scripted.requests) == 3
    assert made.draft(EXAMPLES[1]).text == EXAMPLES[1].mt
    reread = await draft_all(engine, "default", EXAMPLES[:2], path, key="a", at_once=1)
    assert (len(scripted.requests), sorted(reread.replies)) == (3, ["0", "1"])


async def test_drafts_of_other_weights_are_not_taken(
    engine: OpenAIEngine, scripted: ScriptedServer, tmp_path: Path
) -> None:
    path = tmp_path / "drafts.jsonl"
    await draft_all(engine, "default", EXAMPLES[:2], path, key="a", at_once=1)
    await draft_all(engine, "default", EXAMPLES[:2], path, key="b", at_once=1)
    assert len(scripted.requests) == 4


async def test_what_was_drafted_before_a_failure_is_kept(scripted: ScriptedServer, tmp_path: Path) -> None:
    path = tmp_path / "drafts.jsonl"
    echo = scripted.script
    scripted.script = lambda request, count: Fail(400) if "cat 3" in str(request) else echo(request, count)
    async with OpenAIEngine(scripted.url, api_key="k") as engine:
        with pytest.raises(EngineError):
            await draft_all(engine, "default", EXAMPLES, path, key="a", at_once=1)
        scripted.script = echo
        before = len(scripted.requests)
        await draft_all(engine, "default", EXAMPLES, path, key="a", at_once=1)
    assert len(scripted.requests) - before == 3
