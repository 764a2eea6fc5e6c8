from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import count

import pytest

from benchmarks.sample_prompts import BenchmarkPassage
from benchmarks.vllm import compare_sides
from benchmarks.vllm_clients import AskForTokens, DraftTokens, NumberedSentences, ProcessorTime, VllmSide


@asynccontextmanager
async def recorded_side(order: list[str], name: str) -> AsyncIterator[AskForTokens]:
    """Record which side is asked, and for which numbers."""
    order.append(name)

    async def ask(passage: BenchmarkPassage) -> DraftTokens:
        order.append(passage.segment.mt[:4])
        return DraftTokens(2, (1, len(passage.prompt.text)), len(passage.prompt.text))

    yield ask


def sides() -> tuple[list[str], tuple[VllmSide, VllmSide]]:
    order: list[str] = []
    ticks = count(step=3)  # seconds between two readings
    one, other = (
        VllmSide(partial(recorded_side, order, name), lambda: ProcessorTime(0.5 * (now := next(ticks)), now))
        for name in "AB"
    )
    return order, (one, other)


@pytest.mark.parametrize("form", ["sep", "chat"])
async def test_no_prompt_repeats_and_both_sides_have_equal_lengths(form: str) -> None:
    texts, seen = NumberedSentences(), set[str]()
    for _ in range(3):
        first, second = await texts.draw_twice(20, form, shared=False)
        assert [len(one.prompt.text) for one in first] == [len(one.prompt.text) for one in second]
        assert [one.sampling for one in first] == [one.sampling for one in second]
        seen.update(one.prompt.text for one in first + second)
    assert len(seen) == 3 * 2 * 20


async def test_sides_alternate_and_there_is_a_claim_for_every_load() -> None:
    order, pair = sides()
    claims = await compare_sides("A / B", pair, NumberedSentences(), {1: (2, 2), 8: (3, 4)}, bound=0.95)
    assert "".join(name for name in order if name in "AB") == "ABBA" + "ABBAABBA"
    assert [claim.text for claim in claims] == ["A / B, 1 in flight", "A / B, 8 in flight"]
    assert [len(claim.ratios) for claim in claims] == [2, 4]
    assert {claim.bound for claim in claims} == {0.95}
    # 1.5 s for 2 passages, and for 3.
    assert [claim.note.rpartition("; ")[2] for claim in claims] == [
        "of service and client 750 against 750 ms a passage",
        "of service and client 500 against 500 ms a passage",
    ]


async def test_sides_on_the_same_model_swap_their_prompts_in_the_second_round() -> None:
    order, pair = sides()
    await compare_sides("A / B", pair, NumberedSentences(), {1: (2, 2)})
    assert " ".join(order) == "A 1000 1001 B 1002 1003 B 1000 1001 A 1002 1003"


async def test_sides_on_different_models_get_the_same_prompts_and_new_ones_in_each_round() -> None:
    order, pair = sides()
    await compare_sides("A / B", pair, NumberedSentences(), {1: (2, 2)}, shared=True)
    assert " ".join(order) == "A 1000 1001 B 1000 1001 B 1002 1003 A 1002 1003"


async def test_sides_that_are_sent_different_prompts_get_no_ratio() -> None:
    @asynccontextmanager
    async def longer() -> AsyncIterator[AskForTokens]:
        async def ask(passage: BenchmarkPassage) -> DraftTokens:
            return DraftTokens(2, prompt_length=len(passage.prompt.text) + 1)

        yield ask

    _, (one, other) = sides()
    texts = NumberedSentences()
    (same,) = await compare_sides("A / B", (one, other), texts, {1: (2, 2)}, bound=0.1)
    (different,) = await compare_sides("A / C", (one, replace(other, opened=longer)), texts, {1: (2, 2)}, bound=0.1)
    assert same.prompt_tokens == 1
    assert same.is_comparable
    assert not different.is_comparable
    assert not different.holds


async def test_drafts_are_compared_token_for_token() -> None:
    _, pair = sides()
    (same,) = await compare_sides("A / B", pair, NumberedSentences(), {2: (5, 2)}, shared=True)
    assert "10 of 10 drafts the same, token for token" in same.note


@pytest.mark.subprocess
def test_a_missing_vllm_is_an_error_with_the_remedy() -> None:
    ended = subprocess.run([sys.executable, "-m", "benchmarks", "--only", "v"], env={}, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "make bench-vllm" in ended.stderr
