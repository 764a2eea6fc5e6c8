"""Judges that are real HTTP servers and answer as they are told, and what they are asked about."""

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
class Shown:
    """What a judge of pairs is shown."""

    first: str
    second: str

    @property
    def better(self) -> str:
        """The letter of the good text."""
        return "B" if "put the kettle" in self.second else "A"


def shown_in(request: dict[str, Any]) -> Shown:
    """The two texts of the prompt."""
    told = request["messages"][-1]["content"]
    first, second = re.findall(r"<translation>\n(.*?)\n</translation>", told, re.DOTALL)
    return Shown(first, second)


def verdict(letter: str) -> Move:
    return Say(f"I have read both.\n<verdict>{letter}</verdict>")


def chance_of(text: str) -> float:
    """The same for the same text: a judge at temperature 0 does not toss coins."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32


def honest(request: dict[str, Any], turn: int) -> Move:
    """Chooses the good text wherever it stands."""
    return verdict(shown_in(request).better)


def biased(share: float) -> Callable[[dict[str, Any], int], Move]:
    """Chooses what is shown first in this share of its answers, whatever it is."""

    def script(request: dict[str, Any], turn: int) -> Move:
        shown = shown_in(request)
        return verdict("A" if chance_of(shown.first + shown.second) < share else "B")

    return script


def pairs(number: int, *, source: str | None = "Il mit la bouilloire, numéro {}.") -> list[JudgePair]:
    """A good text and a bad one, the good one second in every other pair."""
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
    """The scripted judge, without patience."""
    scripted.script = honest
    async with OpenAIEngine(scripted.url, api_key="k", retry=RetryPolicy(attempts=1)) as opened:
        yield opened


@pytest.fixture
def options(tmp_path: Path) -> JudgeOptions:
    """Answers are kept in a folder of the test."""
    return JudgeOptions(cache=tmp_path / "answers")
