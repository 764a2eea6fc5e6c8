"""Responses match the OpenAPI document for any request."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import jsonschema_rs
import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)
from schemathesis.specs.openapi.schemas import OpenApiSchema

import ape.errors
import serve.middleware.auth
import serve.middleware.problems
import serve.routes.multipart
import serve.routes.passages
from ape.edits.diff import apply_edits, edit_rate
from ape.engines import Engine
from ape.engines.factory import open_engine
from ape.errors import InputError
from ape.passage.edit import Edit, EditKind
from ape.passage.intake import refuse_unreadable
from ape.passage.request import EXAMPLE_QUESTION
from ape.passage.segment import Segment
from ape.settings import Settings
from serve.app import create_app
from serve.schemas.passages import EXAMPLE_ANSWER, PostEditResponse
from tests.scripted import ScriptedServer, running

SMALL: dict[str, Any] = {"max_passages": 8, "max_characters": 100}  # so that the largest request is fast
KEY = "the key of the tests"
WITH_KEY = {"Authorization": f"Bearer {KEY}"}
AS_EVENTS = {"Accept": "text/event-stream"}

ALWAYS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]


def examples(count: int) -> settings:
    """So many random requests, the same on every run, besides those that the schema itself suggests."""
    return settings(
        max_examples=count, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )


def make_app(**values: Any) -> FastAPI:
    """The application, only to read its OpenAPI document."""

    @asynccontextmanager
    async def no_engine() -> AsyncIterator[Engine]:
        raise NotImplementedError
        yield

    settings = Settings(engine="url", url="http://127.0.0.1/v1", cache=Path(), **SMALL, **values)
    return create_app(settings, no_engine())


def promises_of(app: FastAPI, *, coverage: bool = False, examples: bool = True) -> OpenApiSchema:
    """The schema to test with random requests, its examples and, if `coverage`, one request for each schema branch."""
    promises = schemathesis.openapi.from_dict(app.openapi())
    # A model that is not there is a fair answer to a good request, as is an engine that takes no adapters; a list that
    # is too long is Too Large.
    promises.config.checks.positive_data_acceptance.expected_statuses = ["200", "204", "404", "409"]
    promises.config.checks.negative_data_rejection.expected_statuses = ["400", "401", "404", "405", "413", "415", "422"]
    promises.config.phases.coverage.enabled = coverage
    promises.config.phases.examples.enabled = examples
    promises.config.request_timeout = 120  # reading a book starts a process, which takes long on a busy machine
    return promises


OPEN, KEYED = make_app(), make_app(api_keys=(KEY,))
QUESTION = jsonschema_rs.Draft202012Validator(
    {"$ref": "#/components/schemas/PostEditRequest", "components": OPEN.openapi()["components"]}
)


@pytest.fixture(autouse=True)
def _the_model_echoes(scripted: ScriptedServer) -> None:
    """Every draft is the MT."""


@pytest.fixture(scope="module")
def patient(service_settings: Settings) -> Settings:
    """With long timeouts, so that a busy machine causes no 504."""
    return service_settings.model_copy(update={"timeout_seconds": 60.0, **SMALL})


@pytest.fixture(scope="module")
def address(patient: Settings) -> Iterator[str]:
    with running(create_app(patient, open_engine(patient))) as address:
        yield address


@pytest.fixture(scope="module")
def keyed_address(patient: Settings) -> Iterator[str]:
    keyed = Settings.model_validate(patient.model_dump() | {"api_keys": (KEY,)})
    with running(create_app(keyed, open_engine(keyed))) as address:
        yield address


def look_at(case: Case[Any], response: Response) -> None:
    """A good request is answered and a bad one refused: by its status, or in a list each item in its place."""
    passages = case.body
    if case.path == "/v1/books":
        # The schema can't distinguish a book from random bytes, which are refused.
        case.validate_response(response, checks=[negative_data_rejection])
        return
    if case.path == "/v1/files" and case.method == "POST":
        # A form has no null: what stands for it arrives as a file with the text "null". Lines are checked by the batch.
        return
    if response.status_code != 200 or not isinstance(passages, list):
        case.validate_response(response, checks=[negative_data_rejection, positive_data_acceptance])
        return
    answers = response.json()
    assert len(answers) == len(passages)
    for passage, answer in zip(passages, answers, strict=True):
        expected = (200, 404) if QUESTION.is_valid(passage) else (413, 422)
        assert answer.get("status", 200) in expected, (passage, answer)


@promises_of(OPEN, coverage=True).parametrize()
@examples(20)
def test_whatever_is_sent_is_answered_as_documented(case: Case[Any], address: str) -> None:
    response = case.call(base_url=address)
    case.validate_response(response, checks=ALWAYS)
    look_at(case, response)


# What bodies are answered is tested without a key; with one, a few requests tell whether each operation asks for it.
@promises_of(KEYED, examples=False).parametrize()
@examples(5)
def test_behind_a_key_it_is_the_same_and_without_it_there_is_nothing(case: Case[Any], keyed_address: str) -> None:
    response = case.call(base_url=keyed_address, headers=WITH_KEY)
    transport = {"base_url": keyed_address, "headers": WITH_KEY}
    case.validate_response(response, checks=[*ALWAYS, ignored_auth], headers=WITH_KEY, transport_kwargs=transport)
    look_at(case, response)


@promises_of(OPEN).include(path="/v1/post-edit").parametrize()
@examples(20)
def test_a_stream_is_answered_as_documented(case: Case[Any], address: str) -> None:
    response = case.call(base_url=address, headers=AS_EVENTS)
    case.validate_response(response, checks=ALWAYS)


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


@pytest.mark.parametrize("app", [OPEN, KEYED], ids=["open", "keyed"])
def test_the_document_is_valid(app: FastAPI) -> None:
    document = app.openapi()
    assert document["openapi"].startswith("3.1.")
    schemathesis.openapi.from_dict(document).validate()
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema)


def test_every_operation_says_what_it_is_for_and_every_answer_what_it_means() -> None:
    for name, operation in operations(OPEN.openapi()):
        assert operation["summary"], name
        assert all(answer["description"] for answer in operation["responses"].values()), name


def test_every_status_of_an_error_is_documented() -> None:
    """Statuses of the error classes, and those named in modules of the service."""
    modules = (
        ape.errors,
        serve.middleware.problems,
        serve.middleware.auth,
        serve.routes.passages,
        serve.routes.multipart,
    )
    sources = [Path(str(module.__file__)) for module in modules]
    named = re.findall(r"\bstatus(?:: int)? ?= ?(\d{3})", "".join(source.read_text() for source in sources))
    assert {"400", "401", "403", "415", "429", "500", "504"} <= set(named)  # else the search is broken
    documented = [set(operation["responses"]) for _, operation in operations(OPEN.openapi())]
    assert set(named) <= set().union(*documented)


def test_whatever_fails_may_be_our_own_fault_and_is_documented_so() -> None:
    for name, operation in operations(OPEN.openapi()):
        if name != "GET /healthz":
            assert "500" in operation["responses"], name


@pytest.mark.parametrize("name", ["one", "list"])
def test_the_example_request_is_answered_like_the_example_answer(name: str, address: str) -> None:
    operation = dict(operations(OPEN.openapi()))["POST /v1/post-edit"]
    request, answer = operation["requestBody"], operation["responses"]["200"]
    example_request, example_response = (
        body["content"]["application/json"]["examples"][name]["value"] for body in (request, answer)
    )
    response = httpx2.post(f"{address}/v1/post-edit", json=example_request, timeout=300)
    assert response.status_code == 200
    assert type(response.json()) is type(example_response)
    schema = answer["content"]["application/json"]["schema"] | {"components": OPEN.openapi()["components"]}
    jsonschema_rs.Draft202012Validator(schema).validate(example_response)


def test_the_example_answer_is_true_to_itself() -> None:
    answer = PostEditResponse.model_validate(EXAMPLE_ANSWER)
    mt = str(EXAMPLE_QUESTION["mt"])
    edits = [Edit(EditKind(edit.kind), edit.before, edit.after, edit.mt_span, edit.span) for edit in answer.edits]
    assert apply_edits(mt, edits) == answer.post_edit
    assert all(answer.post_edit[slice(*edit.span)] == edit.after for edit in edits)
    assert answer.edit_rate == round(edit_rate(mt, answer.post_edit), 4)


def test_the_schema_takes_the_characters_that_the_work_takes() -> None:
    """All below U+3100, where space and control characters are, alone and next to a letter."""
    pattern = re.compile(OPEN.openapi()["components"]["schemas"]["PostEditRequest"]["properties"]["mt"]["pattern"])
    for character in map(chr, range(0x3100)):
        for text in (character, f"a{character}"):
            assert bool(pattern.search(text)) == is_taken(text), repr(text)


def is_taken(text: str) -> bool:
    try:
        refuse_unreadable(Segment(source="a", mt=text, source_language="fr", target_language="en"))
    except InputError:
        return False
    return True


@pytest.mark.parametrize("values", [{"seed": True}, {"seed": "1"}, {"temperature": False}, {"top_p": "0.5"}])
def test_what_only_looks_like_a_number_is_refused(values: dict[str, Any], address: str) -> None:
    response = httpx2.post(f"{address}/v1/post-edit", json=EXAMPLE_QUESTION | values)
    assert (response.status_code, response.json()["field"]) == (422, next(iter(values)))


def test_a_list_longer_than_the_queue_is_too_large_rather_than_always_too_early(patient: Settings) -> None:
    """Otherwise the client would get 429 forever."""
    narrow = patient.model_copy(update={"max_queue": 2})
    with running(create_app(narrow, open_engine(narrow))) as address:
        response = httpx2.post(f"{address}/v1/post-edit", json=[EXAMPLE_QUESTION] * 3)
    assert (response.status_code, response.json()["limit"]) == (413, 2)


@pytest.mark.parametrize("host", ["[", "[::1", "evil.example", "127.0.0.1.evil.example", "evil.example:x", ""])
def test_a_strange_host_is_turned_away_without_a_fault(host: str, address: str) -> None:
    response = httpx2.get(f"{address}/v1/models", headers={"Host": host})
    assert response.status_code in (400, 403)
