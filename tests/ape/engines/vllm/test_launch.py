"""Speculative decoding flags of vLLM, and the key required for all of its paths."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from ape.engines.vllm.launch import AUTH_PLUGIN, SPECULATION, VllmBuild, VllmLaunch
from tests.scripted import running


def guesses(*flags: str, build: VllmBuild = "cpu", use_speculation: bool | None = None) -> Any:
    """The speculative decoding flags for vLLM."""
    launch = VllmLaunch(Path("python"), "model", "base", flags, use_speculation=use_speculation)
    command = launch.command(1, build)[: -len(flags) or None]
    place = command.index("--speculative-config") if "--speculative-config" in command else None
    return None if place is None else json.loads(command[place + 1])


def test_it_guesses_where_that_was_measured_to_pay_or_as_told() -> None:
    assert guesses() == SPECULATION
    assert guesses(build="other") is None
    assert guesses(build="other", use_speculation=True) == SPECULATION
    assert guesses(use_speculation=False) is None


@pytest.mark.parametrize("flag", ["--speculative-config=x", "-sc", "--data-parallel-size=2", "-dp", "-pp"])
def test_it_does_not_beside_flags_that_say_otherwise(flag: str) -> None:
    assert guesses(flag, use_speculation=True) is None


def test_the_schedule_covers_every_batch_from_one_on() -> None:
    schedule = SPECULATION["num_speculative_tokens_per_batch_size"]
    assert isinstance(schedule, list)
    assert schedule[0][0] == 1
    assert all(before[1] + 1 == after[0] for before, after in pairwise(schedule))
    assert max(row[2] for row in schedule) == SPECULATION["num_speculative_tokens"]


@pytest.fixture
def gated(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("VLLM_API_KEY", "right")
    monkeypatch.syspath_prepend(str(AUTH_PLUGIN))
    from ape_vllm_auth import VllmKeyMiddleware  # type: ignore[import-not-found]

    async def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse("in")

    with running(
        VllmKeyMiddleware(Starlette(routes=[Route("/{path:path}", page, methods=["GET", "POST"])]))
    ) as address:
        yield address
    sys.modules.pop("ape_vllm_auth", None)


@pytest.mark.parametrize("path", ["/v1/models", "/adapters", "/invocations", "/tokenize", "/metrics", "/health/x"])
def test_every_path_asks_for_the_key(path: str, gated: str) -> None:
    def status(**headers: str) -> int:
        return httpx2.get(gated + path, headers=headers).status_code

    assert [status(), status(Authorization="Bearer wrong"), status(Authorization="right")] == [401] * 3
    assert status(Authorization="Bearer right") == status(Authorization="bearer right") == 200


def test_its_health_can_be_looked_at_without(gated: str) -> None:
    assert httpx2.get(f"{gated}/health").text == "in"
