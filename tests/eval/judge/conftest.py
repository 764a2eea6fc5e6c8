"""Scripted judges behind a real HTTP server, and the pairs that they judge."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ape.engines.client import OpenAIEngine
from ape.engines.retry import RetryPolicy
from eval.judge import JudgeOptions, JudgePair
from tests.scripted import Move, Say, ScriptedServer

GOOD = "He put the kettle on and sat down by the window, number {}."
BAD = "He posed the kettle over and himself sat to the window, number {}."


@dataclass(frozen=True, slots=True)
class PromptTexts:
    """The two texts of a prompt, in their order."""

    first: str
    second: str

    @property
    def better(self) -> str:
        """The letter of the good text."""
        return "B" if "put the kettle" in self.second else "A"


def prompt_texts(request: dict[str, Any]) -> PromptTexts:
    """Parse the two texts of the prompt."""
    content = request["messages"][-1]["content"]
    first, second = re.findall(r"<translation>\n(.*?)\n</translation>", content, re.DOTALL)
    return PromptTexts(first, second)


def verdict(letter: str) -> Move:
    return Say(f"I have read both.\n<verdict>{letter}</verdict>")


def chance_of(text: str) -> float:
    """A number in [0, 1) determined by the text, as a judge at temperature 0 is."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32


def honest(request: dict[str, Any], turn: int) -> Move:
    """Choose the good text in either position."""
    return verdict(prompt_texts(request).better)


def biased(share: float) -> Callable[[dict[str, Any], int], Move]:
    """A judge that chooses the first position in this share of its answers."""

    def script(request: dict[str, Any], turn: int) -> Move:
        texts = prompt_texts(request)
        return verdict("A" if chance_of(texts.first + texts.second) < share else "B")

    return script


def pairs(number: int, *, source: str | None = "Il mit la bouilloire, numéro {}.") -> list[JudgePair]:
    """Pairs of a good and a bad text, in alternating order."""
    return [
        JudgePair(
            id=f"p{at}",
            source=source and source.format(at),
            first=(GOOD if at % 2 else BAD).format(at),
            second=(BAD if at % 2 else GOOD).format(at),
            first_system="good" if at % 2 else "bad",
            second_system="bad" if at % 2 else "good",
            source_language="fr",
            target_language="en",
        )
        for at in range(number)
    ]


@pytest.fixture
async def engine(scripted: ScriptedServer) -> AsyncIterator[OpenAIEngine]:
    """An engine for the scripted judge, without retries."""
    scripted.script = honest
    async with OpenAIEngine(scripted.url, api_key="k", retry=RetryPolicy(attempts=1)) as opened:
        yield opened


@pytest.fixture
def options(tmp_path: Path) -> JudgeOptions:
    """Options with an answer cache in the test's folder."""
    return JudgeOptions(cache=tmp_path / "answers")
