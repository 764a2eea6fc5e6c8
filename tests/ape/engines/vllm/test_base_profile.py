"""A prompted model on vLLM has the prompt format and the edit filter of its profile."""

from __future__ import annotations

import json
from pathlib import Path

from ape.engines.vllm.engine import ExternalVllm, VllmEngine
from ape.models.profile import BASE_PROFILE, read_profile
from tests.scripted import Raw, ScriptedServer


def vllm_listing(root: str) -> Raw:
    entry = {"id": "base", "object": "model", "root": root, "parent": None, "max_model_len": 4096}
    return Raw(json.dumps({"object": "list", "data": [entry]}), "application/json")


def engine_on(scripted: ScriptedServer) -> VllmEngine:
    return VllmEngine(ExternalVllm(scripted.url, "none"), concurrency=1, timeout_seconds=10)


async def test_a_model_of_the_hub_is_queried_as_its_gguf_file_is(scripted: ScriptedServer) -> None:
    scripted.listing = vllm_listing("Qwen/Qwen2.5-Coder-1.5B-Instruct")
    try:
        async with engine_on(scripted) as engine:
            (model,) = await engine.models()
    finally:
        scripted.listing = None
    profile = read_profile("qwen2.5-coder-1.5b")
    assert profile
    assert (model.format, model.edit_filter) == (profile.format, profile.edit_filter)
    assert model.revision == f"+{profile.revision}"


async def test_a_profile_in_the_directory_of_the_model_is_used(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.listing = vllm_listing(str(tmp_path))
    try:
        async with engine_on(scripted) as engine:
            (plain,) = await engine.models()
            (tmp_path / BASE_PROFILE).write_text('{"format": "examples"}', encoding="utf-8")
            (model,) = await engine.models()
    finally:
        scripted.listing = None
    assert (plain.format, plain.edit_filter, plain.revision) == ("chat", None, "")
    assert model.format == "examples"
