"""What the service says about a request that is not valid."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from serve.middleware.problems import install_problem_handlers, problem_from_error
from tests.scripted import running


class _Query(BaseModel):
    format: Literal["book", "report"] | Literal["jsonl", "tmx"] = "book"
    limit: Annotated[int, Field(ge=1)] = 1


def test_an_unknown_choice_names_the_field_and_all_that_it_takes() -> None:
    with pytest.raises(ValidationError) as caught:
        _Query.model_validate({"format": "pdf"})
    problem = problem_from_error(caught.value)
    assert (problem.field, problem.detail) == ("format", "format: one of book, report, jsonl, tmx")


class _Stage(StrEnum):
    OPEN = "open"
    DONE = "done"


class _Part(BaseModel):
    text: str


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source: Annotated[str, Field(min_length=1, max_length=9)] = "a"
    temperature: Annotated[float, Field(ge=0, le=2)] = 0
    context: list[_Part] = []
    number: Annotated[int, Field(gt=0)] = 1
    stream: bool = False
    stage: _Stage = _Stage.OPEN
    pair: Annotated[list[str], Field(min_length=1, max_length=2)] = ["fr"]


@pytest.mark.parametrize(
    ("given", "detail"),
    [
        ({"source": ""}, "source: at least 1 character"),
        ({"source": "a" * 10}, "source: at most 9 characters"),
        ({"source": 3}, "source: a text"),
        ({"temperature": 9}, "temperature: at most 2"),
        ({"temperature": -1}, "temperature: at least 0"),
        ({"temperature": "warm"}, "temperature: a number"),
        ({"context": 3}, "context: a list"),
        ({"context": [3]}, "context.0: an object"),
        ({"context": [{}]}, "context.0.text: required"),
        ({"number": 0}, "number: more than 0"),
        ({"number": "x"}, "number: a whole number"),
        ({"number": 1.5}, "number: a whole number"),
        ({"stream": "perhaps"}, "stream: true or false"),
        ({"stage": "x"}, "stage: one of open, done"),
        ({"pair": []}, "pair: at least 1 item"),
        ({"pair": ["a"] * 3}, "pair: at most 2 items"),
        ({"colour": "red"}, "colour: there is no such field"),
    ],
)
def test_an_error_says_what_the_field_takes(given: dict[str, object], detail: str) -> None:
    with pytest.raises(ValidationError) as caught:
        _Request.model_validate(given)
    assert problem_from_error(caught.value).detail == detail


@pytest.mark.parametrize(
    ("method", "path", "detail"),
    [
        ("GET", "/v1/nothing", "There is nothing at /v1/nothing."),
        ("DELETE", "/there", "DELETE is not possible at /there; possible: GET."),
    ],
)
def test_an_unknown_address_or_method_is_named(method: str, path: str, detail: str) -> None:
    app = FastAPI()
    install_problem_handlers(app)

    @app.get("/there")
    async def there() -> str:
        return "here"

    with running(app) as address:
        assert httpx2.request(method, address + path).json()["detail"] == detail


class _Odd(BaseModel):
    address: Annotated[str, Field(pattern="^x")] = "x"


def test_other_errors_keep_their_sentence() -> None:
    with pytest.raises(ValidationError) as caught:
        _Odd.model_validate({"address": "y"})
    assert problem_from_error(caught.value).detail == "address: String should match pattern '^x'"
