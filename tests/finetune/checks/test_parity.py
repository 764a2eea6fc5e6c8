"""Served answers are compared with transformers and peft, and differences are explained."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ape.adapters import CARD_FILE, amend_card, read_card
from ape.engines import EngineHealth, Model, Reply, Sampling
from ape.errors import InputError
from ape.passage.events import Listener
from ape.passage.result import Usage
from ape.passage.segment import Draft
from finetune.checks.parity import (
    EngineParity,
    ReferenceAnswer,
    compare_engine,
    generate_reference,
    measure_stop_rate,
    next_token_logprobs,
)
from finetune.training.encoding import prompt_tokens
from prompts import Prompt
from tests.finetune.toy_model import EXAMPLES, make_model

pytestmark = pytest.mark.torch

FEW = EXAMPLES[:3]
Change = Callable[[str], Draft]


class Served:
    """An engine that gives the reference answer, or a change of it."""

    def __init__(
        self, reference: list[ReferenceAnswer], tokenizer: Any, *, change: Change = Draft, extra: int = 0
    ) -> None:
        self._texts = {tuple(one.prompt_tokens): one.text for one in reference}
        self._tokenizer = tokenizer
        self._change = change
        self._extra = extra

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        assert (sampling.temperature, model.name) == (0.0, "tuned")
        read = tuple(self._tokenizer(prompt.text).input_ids)
        return Reply(self._change(self._texts[read]), Usage(len(read) + self._extra, 1))

    async def count(self, text: str) -> int | None:
        return None

    async def models(self) -> tuple[Model, ...]:
        return (Model("tuned", format="sep"),)

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        yield Model(name, format="sep")

    def health(self) -> EngineHealth:
        return EngineHealth("up")


@pytest.fixture(scope="module")
def model(tokenizer: Any) -> Any:
    return make_model(tokenizer).eval()


@pytest.fixture(scope="module")
def reference(model: Any, tokenizer: Any) -> list[ReferenceAnswer]:
    return generate_reference(model, tokenizer, FEW, batch=2)


async def compared(reference: list[ReferenceAnswer], model: Any, tokenizer: Any, **options: Any) -> EngineParity:
    engine = Served(reference, tokenizer, **options)
    return await compare_engine(engine, "tuned", reference, model=model, tokenizer=tokenizer, engine_name="a double")


def test_the_reference_is_what_the_model_finds_likeliest(
    reference: list[ReferenceAnswer], model: Any, tokenizer: Any
) -> None:
    """Computed step by step, without cache or batch."""
    for one in reference:
        assert one.prompt_tokens == tuple(prompt_tokens(tokenizer, one.example))
        for place in range(min(4, len(one.tokens))):
            likely = next_token_logprobs(model, [*one.prompt_tokens, *one.tokens[:place]])
            assert likely.index(max(likely)) == one.tokens[place]


def test_an_answer_is_no_longer_than_it_may_be_served(reference: list[ReferenceAnswer]) -> None:
    for one in reference:
        assert len(one.tokens) <= one.most
        assert one.stopped == (len(one.tokens) < one.most)


async def test_the_same_texts_are_identical(reference: list[ReferenceAnswer], model: Any, tokenizer: Any) -> None:
    parity = await compared(reference, model, tokenizer)
    assert (parity.identical, parity.differences, parity.stopped) == (1.0, (), 3)
    assert parity.summary() == {
        "engine": "a double",
        "prompts": 3,
        "identical": 1.0,
        "stopped": 1.0,
        "near_ties": 0,
        "other_differences": 0,
        "widest_margin": None,
    }


async def test_another_word_is_told_with_its_place_and_margin(
    reference: list[ReferenceAnswer], model: Any, tokenizer: Any
) -> None:
    parity = await compared(reference, model, tokenizer, change=lambda text: Draft("#" + text))
    assert parity.identical == 0.0
    for one, difference in zip(reference, parity.differences, strict=True):
        assert difference.why.token == 0
        likely = next_token_logprobs(model, one.prompt_tokens)
        sharp = tokenizer.convert_tokens_to_ids("#")
        if difference.why.served == "#":
            assert difference.why.margin == pytest.approx(max(likely) - likely[sharp])
        else:  # not among the best tokens
            assert (difference.why.kind, difference.why.margin) == ("real", None)


async def test_an_answer_that_is_cut_off_there_is_told_as_that(
    reference: list[ReferenceAnswer], model: Any, tokenizer: Any
) -> None:
    parity = await compared(reference, model, tokenizer, change=lambda text: Draft(text[:1], "length"))
    assert parity.stopped == 0
    assert {difference.why.kind for difference in parity.differences} == {"length"}


async def test_a_prompt_that_was_read_as_other_tokens_is_the_reason(
    reference: list[ReferenceAnswer], model: Any, tokenizer: Any
) -> None:
    parity = await compared(reference, model, tokenizer, change=lambda text: Draft("#" + text), extra=1)
    assert {difference.why.kind for difference in parity.differences} == {"prompt"}


def test_99_of_100_have_to_stop(reference: list[ReferenceAnswer]) -> None:
    ended, endless = replace(reference[0], stopped=True), replace(reference[0], stopped=False)
    assert measure_stop_rate([ended] * 99 + [endless]).passes
    assert not measure_stop_rate([ended] * 98 + [endless] * 2).passes
    assert measure_stop_rate([ended] * 49 + [endless]).runaways == (endless,)


def test_the_result_goes_into_the_card_and_all_else_stays(tmp_path: Path) -> None:
    card = {"base": {"model": "tiny"}, "prompt": "sep@0123456789ab", "later": {"version": "has this"}}
    (tmp_path / CARD_FILE).write_text(json.dumps(card), encoding="utf-8")
    amend_card(tmp_path, {"parity": {"stopped": 1.0}})
    assert json.loads((tmp_path / CARD_FILE).read_bytes()) == card | {"parity": {"stopped": 1.0}}
    assert read_card(tmp_path).parity == {"stopped": 1.0}
    assert [path.name for path in tmp_path.iterdir()] == [CARD_FILE]


def test_a_card_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be written: No such file"):
        amend_card(tmp_path, {})
