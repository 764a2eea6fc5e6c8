"""Judge requests: answer cache, server identity and cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ape.engines.client import OpenAIEngine
from ape.engines.protocol import Model, Reply
from ape.errors import InputError
from ape.jobs.estimate import TokenPrice
from ape.passage.result import Usage
from ape.passage.segment import Draft
from ape.settings import Settings
from eval.judge import JudgeCost, JudgeOptions, judge_pairs
from eval.judge.answer_cache import answer_key, open_answer_cache
from eval.judge.requests import ask_judge, server_identity
from prompts.judge import render_pair_judge
from tests.eval.judge.conftest import pairs
from tests.scripted import ScriptedServer

MODEL = Model("m")


def test_the_key_contains_everything_that_determines_an_answer() -> None:
    prompt, sampling = render_pair_judge("a", "b"), JudgeOptions().sampling
    keys = [
        answer_key(prompt, sampling, MODEL),
        answer_key(render_pair_judge("b", "a"), sampling, MODEL),
        answer_key(render_pair_judge("a", "b", ties=False), sampling, MODEL),
        answer_key(replace(prompt, fingerprint="judge_pairs@0"), sampling, MODEL),
        answer_key(prompt, replace(sampling, seed=2), MODEL),
        answer_key(prompt, replace(sampling, temperature=0.5), MODEL),
        answer_key(prompt, replace(sampling, max_tokens=5), MODEL),
        answer_key(prompt, sampling, Model("n")),
        answer_key(prompt, sampling, Model("m", revision="2")),
        answer_key(prompt, sampling, MODEL, server="http://127.0.0.1:8000/v1"),
    ]
    assert len(set(keys)) == len(keys)
    assert keys[0] == answer_key(render_pair_judge("a", "b"), JudgeOptions().sampling, MODEL)


@pytest.mark.parametrize(
    ("given", "server"),
    [
        ({"engine": "url", "url": "https://me:hush@host:8000/v1/?key=hush"}, "https://host:8000/v1"),
        ({"engine": "vllm", "model": "models/judge"}, "vllm models/judge"),
        ({}, ""),
    ],
)
def test_the_server_identity_contains_no_secrets(given: dict[str, str], server: str) -> None:
    assert server_identity(Settings.model_validate(given | {"engine_key": "hush"})) == server


def test_answers_round_trip_even_with_lone_surrogates(tmp_path: Path) -> None:
    reply = Reply(Draft("half \ud83d \x00 tie", "length"), Usage(3, 4))
    with open_answer_cache(tmp_path) as cache:
        cache.write(b"k", reply)
    with open_answer_cache(tmp_path) as cache:
        assert cache.read([b"k", b"other"]) == {b"k": reply}
        assert cache.read([str(at).encode() for at in range(1200)]) == {}


async def test_an_unwritable_cache_is_reported_before_any_request(
    engine: OpenAIEngine, scripted: ScriptedServer, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(InputError, match="can't be stored in"):
        await judge_pairs(pairs(1), engine, options=JudgeOptions(cache=tmp_path / "file"))
    (tmp_path / "answers-1.sqlite").write_text("not a database at all" * 100)
    with pytest.raises(InputError, match="can't be stored in"):
        await judge_pairs(pairs(1), engine, options=JudgeOptions(cache=tmp_path))
    assert not scripted.requests


async def test_without_a_folder_nothing_is_cached(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    for _ in range(2):
        await judge_pairs(pairs(1), engine, options=JudgeOptions(cache=None))
    assert len(scripted.requests) == 4


async def test_equal_prompts_are_requested_once(
    engine: OpenAIEngine, scripted: ScriptedServer, options: JudgeOptions
) -> None:
    one = pairs(1)[0]
    judged = await judge_pairs([one, replace(one, id="again")], engine, options=options)
    assert len(scripted.requests) == 2
    assert judged.verdicts["p0"] == judged.verdicts["again"]


async def test_progress_includes_cached_answers(engine: OpenAIEngine, options: JudgeOptions) -> None:
    calls: list[tuple[int, int]] = []
    await judge_pairs(pairs(1), engine, options=options)
    await judge_pairs(pairs(2), engine, options=options, progress=lambda *done: calls.append(done))
    assert calls == [(3, 4), (4, 4)]


async def test_a_post_editing_model_is_rejected_as_a_judge(engine: OpenAIEngine, options: JudgeOptions) -> None:
    with pytest.raises(InputError, match="can't judge"):
        await ask_judge([], engine, model=Model("tuned", format="sep"), options=options)


def test_cost_is_computed_per_million_tokens() -> None:
    cost = JudgeCost(
        2, Usage(3_000_000, 500_000), cached=1, cached_usage=Usage(1_000_000, 0), price=TokenPrice(2.0, 10.0)
    )
    assert cost.money == pytest.approx(11.0)  # by hand: 3 × 2 + 0.5 × 10
    assert cost.saved == pytest.approx(2.0)
    assert str(cost) == ("2 requests, 3,000,000 tokens read and 500,000 written, cost 11.0000; 1 answer from the cache")


def test_an_unknown_cost_is_none() -> None:
    assert JudgeCost(2, Usage(10, 10)).money is None
    uncounted = JudgeCost(2, Usage(), price=TokenPrice(1, 1))
    assert uncounted.money is None
    assert "reports no token counts" in str(uncounted)
    assert JudgeCost(price=TokenPrice(1, 1)).money == 0
