"""The options of a passage have the same bounds, descriptions and defaults wherever they are given."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import pytest
import typer
import typer.main

from ape.cli.main import app
from ape.engines.client import OpenAIEngine
from ape.errors import InputError
from ape.jobs.job import JobRecipe
from ape.passage.options import (
    DEFAULT_CONTEXT_SIZE,
    Options,
    SamplingOptions,
    SharedOptions,
    check_bounds,
    option_name,
    option_values,
)
from ape.passage.request import PostEditRequest
from ape.passage.segment import Context, Segment
from ape.post_editor import post_edit
from serve.schemas.jobs import BookRequest
from tests.scripted import ScriptedServer

# As decided for all surfaces: the lowest and the highest value, and the values just outside.
BOUNDS: dict[str, tuple[Any, ...]] = {
    "temperature": (0, 2, -0.1, 2.1),
    "top_p": (0.001, 1, 0, 1.1),
    "seed": (0, 2**31 - 1, -1, 2**31),
    "max_attempts": (1, 10, 0, 11),
    "candidates": (1, 8, 0, 9),
    "max_tokens": (1, 32_768, 0, 32_769),
}
SHARED = [field.name for field in fields(SharedOptions)]
SEGMENT = Segment("Il pleut.", "It rains.", "fr", "en")


@pytest.mark.parametrize(("name", "bounds"), BOUNDS.items())
def test_the_library_refuses_what_is_out_of_bounds_by_its_field(name: str, bounds: tuple[Any, ...]) -> None:
    low, high, below, above = bounds
    nan: Any = float("nan")
    for value in (low, high):
        check_bounds(replace(Options(), **{name: value}))
    for value in (below, above, nan):
        with pytest.raises(InputError, match=f"{name} must be") as refused:
            check_bounds(replace(Options(), **{name: value}))
        assert refused.value.field == name


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (replace(SEGMENT, glossary=(("a", "b"),) * 2_001), "glossary"),
        (replace(SEGMENT, instructions="x" * 4_001), "instructions"),
        (replace(SEGMENT, context=(Context("a", "b"),) * 21), "context"),
        (Options(stop=("a", "b", "c", "d")), "stop"),
        (Options(stop=("x" * 101,)), "stop"),
        (Options(stop=("",)), "stop"),
        (JobRecipe(context=21), "context"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_library_refuses_what_is_too_long_by_its_field(value: object, field: str) -> None:
    with pytest.raises(InputError) as refused:
        check_bounds(value)
    assert refused.value.field == field


def properties(model: Any) -> dict[str, Any]:
    """The JSON schemas of the fields of a model, `X | None` as X."""
    found: dict[str, Any] = model.model_json_schema()["properties"]
    return {
        name: {**schema, **next((one for one in schema.get("anyOf", ()) if one != {"type": "null"}), {})}
        for name, schema in found.items()
    }


@pytest.mark.parametrize("name", BOUNDS)
def test_http_documents_the_same_bounds(name: str) -> None:
    low, high, below, _ = BOUNDS[name]
    key = "n" if name == "candidates" else name
    for model in (PostEditRequest, BookRequest):
        if key not in properties(model):
            assert (model, name) == (BookRequest, "max_tokens")
            continue
        schema = properties(model)[key]
        assert schema["maximum"] == high
        assert schema.get("minimum", low) == low
        assert schema.get("exclusiveMinimum", below) == below
        assert schema["description"] == properties(PostEditRequest)[key]["description"]
        assert schema["default"] == getattr(Options(), name)


def command(*names: str) -> Any:
    found: Any = typer.main.get_command(app)
    for name in names:
        found = found.commands[name]
    return {parameter.name: parameter for parameter in found.params}


@pytest.mark.parametrize("names", [("edit",), ("book", "edit"), ("compare",), ("book", "plan")], ids="_".join)
def test_the_command_line_has_the_same_bounds_and_defaults(names: tuple[str, ...]) -> None:
    flags = command(*names)
    for name, (low, high, below, _) in BOUNDS.items():
        if name in flags:
            assert flags[name].max == high
            assert flags[name].min in (low, below)  # an excluded bound is refused by the library
            assert flags[name].default in (None, getattr(Options(), name))
    if "context" in flags:
        assert (flags["context"].min, flags["context"].max) == (0, 20)
        assert flags["context"].default == DEFAULT_CONTEXT_SIZE


@pytest.mark.parametrize("names", [("edit",), ("book", "edit"), ("compare",)], ids="_".join)
def test_the_command_line_has_a_flag_for_each_shared_option(names: tuple[str, ...]) -> None:
    assert set(SHARED) <= set(command(*names))


def test_http_and_recipes_carry_each_shared_option() -> None:
    given = {name: BOUNDS[name][1] for name in SHARED}
    body = {option_name(name): value for name, value in given.items()}
    request = PostEditRequest.model_validate({"source": "Il pleut.", "mt": "It rains."} | body)
    assert option_values(request.to_options()) == given
    recipe = BookRequest.model_validate({name: str(value) for name, value in body.items()}).to_recipe()
    assert option_values(recipe.options()) == given


async def test_the_engine_is_sent_each_sampling_option(scripted: ScriptedServer) -> None:
    given = {field.name: BOUNDS[field.name][1] for field in fields(SamplingOptions)}
    async with OpenAIEngine(scripted.url, api_key="none") as engine:
        await post_edit(SEGMENT, engine, options=Options(**given))
    assert {name: scripted.requests[0][name] for name in given} == given


def test_a_new_option_changes_no_fingerprint_until_it_is_given() -> None:
    @dataclass(frozen=True, slots=True)
    class LaterRecipe(JobRecipe):
        later: float | None = None

    before = JobRecipe("m", "r", "chat@1", "fr", "en", context=3, glossary=(("a", "b"),))
    assert before.fingerprint("a", "b") == "8c03c748bde114765e00e6ebbd9623bf"  # as before options were declared once
    after = LaterRecipe("m", "r", "chat@1", "fr", "en", context=3, glossary=(("a", "b"),))
    assert after.to_json() == before.to_json()
    assert '"later":0.5' in replace(after, later=0.5).to_json()


def test_a_recipe_has_the_defaults_of_a_passage_and_gives_its_options() -> None:
    assert replace(JobRecipe().options(), model=Options().model) == Options()
    shared = {field.name for field in fields(JobRecipe)} & {field.name for field in fields(Options)}
    assert shared == {"model", *BOUNDS} - {"max_tokens"}
    assert JobRecipe(seed=7, candidates=2).options() == Options(model="", seed=7, candidates=2)
