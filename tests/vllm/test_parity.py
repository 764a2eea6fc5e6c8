"""vLLM writes the same tokens as transformers and peft, greedily in float32, except for near-ties."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from ape.sample import SAMPLES, load_sample
from ape.text.sentences import split_sentences
from prompts import SEP, Question
from tests.vllm.served_drafts import Served

PROMPTS = 50
TOKENS = 48
CONCURRENCY = 8
# If the two best logits are closer than this, either may win.
NEAR_TIE = 0.01
LEAST_SAME = 0.9


@dataclass(frozen=True, slots=True)
class PromptCase:
    """A prompt, and the MT in it."""

    prompt: str
    mt: str
    stop: tuple[str, ...]

    def body(self) -> dict[str, object]:
        """The prompt for both programs."""
        return {"prompt": self.prompt, "max_tokens": TOKENS, "stop": self.stop}


@dataclass(frozen=True, slots=True)
class Written:
    """The completion of a prompt. Only the reference has margins and second-best tokens."""

    tokens: list[int]
    text: str
    margins: list[float]
    runners_up: list[int]


@dataclass(frozen=True, slots=True)
class Parting:
    """The first token that differs, and the margin of the reference there."""

    prompt: int
    token: int
    margin: float
    is_runner_up: bool
    texts: tuple[str, str]

    @property
    def is_near_tie(self) -> bool:
        """Whether the reference nearly tied between these two tokens."""
        return self.is_runner_up and self.margin < NEAR_TIE


@pytest.mark.parametrize("adapter", ["copier", "rambler"])
async def test_a_served_adapter_writes_what_peft_writes(
    adapter: str, service: Served, models: Path, vllm_python: str
) -> None:
    questions = prompt_cases(as_sep if adapter == "copier" else as_story)
    served = await ask_vllm(service, adapter, questions)
    expected = ask_peft(models, adapter, questions, served, python=vllm_python)
    partings = [
        part(number, ours, theirs)
        for number, (ours, theirs) in enumerate(zip(served, expected, strict=True))
        if ours.tokens != theirs.tokens
    ]
    print(f"{adapter}: {PROMPTS - len(partings)} of {PROMPTS} identical", *partings, sep="\n")
    assert not [parting for parting in partings if not parting.is_near_tie]
    assert len(partings) <= PROMPTS * (1 - LEAST_SAME)


async def test_adapters_say_what_the_base_does_not(service: Served) -> None:
    """Otherwise parity would also hold for adapters that change nothing."""
    questions = prompt_cases(as_sep)[:8]
    base, copier, rambler = [
        [written.text for written in await ask_vllm(service, name, questions)] for name in ("base", "copier", "rambler")
    ]
    given_back = sum(text == question.mt for text, question in zip(copier, questions, strict=True))
    assert given_back >= 6
    assert sum(text != other for text, other in zip(rambler, base, strict=True)) >= 6


def prompt_cases(ask: Callable[[Question], PromptCase]) -> list[PromptCase]:
    """The first two sentences of each paragraph of the sample chapters, as far as there are two."""
    questions = [
        Question(source.strip(), mt.strip(), segment.source_language, segment.target_language)
        for name in SAMPLES
        for segment in load_sample(name).segments()
        for source, mt in list(zip(split_sentences(segment.source), split_sentences(segment.mt), strict=False))[:2]
    ]
    prompts = [ask(question) for question in questions[:PROMPTS]]
    assert len({prompt_cases.prompt for prompt_cases in prompts}) == PROMPTS
    return prompts


def as_sep(question: Question) -> PromptCase:
    """Prompts in the format of tuned adapters."""
    rendered = SEP.render(question)
    return PromptCase(rendered.text, question.mt, rendered.stop)


def as_story(question: Question) -> PromptCase:
    """The MT alone as a prompt: this gives the longest texts and the most near-ties."""
    return PromptCase(question.mt, question.mt, ())


async def ask_vllm(service: Served, model: str, questions: list[PromptCase]) -> list[Written]:
    """Completions of vLLM, several at a time: a shared batch must not change them."""
    limit = asyncio.Semaphore(CONCURRENCY)
    options = {"model": model, "temperature": 0, "return_token_ids": True}
    headers = {"Authorization": f"Bearer {service.vllm_key}"}
    async with httpx2.AsyncClient(base_url=service.vllm_url, headers=headers, timeout=600) as client:

        async def ask(question: PromptCase) -> Written:
            async with limit:
                answer = await client.post("/completions", json=question.body() | options)
            choice = answer.raise_for_status().json()["choices"][0]
            return Written(choice["token_ids"], choice["text"], [], [])

        return await asyncio.gather(*map(ask, questions))


def ask_peft(
    models: Path, adapter: str, questions: list[PromptCase], guesses: list[Written], *, python: str
) -> list[Written]:
    """Completions of transformers and peft in vLLM's environment; correct guesses make it faster."""
    words = [models / "base", "--adapter", models / adapter]
    done = subprocess.run(
        [python, "-m", "tests.vllm.reference", *map(str, words)],
        input="\n".join(
            json.dumps(question.body() | {"guess": guess.tokens})
            for question, guess in zip(questions, guesses, strict=True)
        ),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"HF_HUB_OFFLINE": "1", "OMP_WAIT_POLICY": "PASSIVE"},
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [Written(*(answer[name] for name in ("tokens", "text", "margins", "runners_up"))) for answer in answers]


def part(number: int, served: Written, expected: Written) -> Parting:
    """The first difference. Neither can be a prefix of the other: both end by the same rules."""
    pairs = zip(served.tokens, expected.tokens, strict=False)
    place = next(place for place, (ours, theirs) in enumerate(pairs) if ours != theirs)
    return Parting(
        number,
        place,
        margin=expected.margins[place],
        is_runner_up=served.tokens[place] == expected.runners_up[place],
        texts=(served.text, expected.text),
    )
