"""Complete the OpenAPI document: statuses, and bodies that FastAPI does not parse."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from ape.jobs.job import JobState
from ape.ledger.files.json_ledger import LedgerJson
from ape.passage.request import EXAMPLE_QUESTION, PostEditRequest
from ape.passage.result import Decision
from ape.settings import Settings
from serve.middleware.problems import MEDIA_TYPE
from serve.middleware.server_sent_events import MEDIA_TYPE as EVENT_STREAM
from serve.routes.passage_stream import PROGRESS_EVENTS
from serve.routes.passages import max_passages_per_request
from serve.schemas.jobs import JobProgress
from serve.schemas.passages import EXAMPLE_ANSWER, FindingOut, PostEditResponse
from serve.schemas.problem import EXAMPLE_PROBLEM, Problem
from serve.schemas.review import REVIEW_REQUESTS

_STATUS_DESCRIPTIONS = {
    400: "The body is not JSON, or not a form where one is required.",
    401: "The key is missing or not valid.",
    403: "Addressed by a host name of another machine, or not allowed for this key.",
    404: "Nothing has that name.",
    409: "The request conflicts with the current state; `detail` says what to do first.",
    413: "Larger than a limit or the model's window; `actual` and `limit` give the sizes.",
    415: "The content type of the body is not supported.",
    422: "The request is not valid; `field` names the part.",
    429: "The queue is full or the rate limit is reached; Retry-After says when to try again.",
    500: "An unexpected error; see the service log.",
    502: "The model server failed.",
    503: "The model server or the job store is not available, or the service is stopping.",
    504: "The model server did not answer in time.",
    507: "No memory for another adapter, or no disk space for a book.",
}
_RETRY_AFTER = {"Retry-After": {"description": "seconds to wait", "schema": {"type": "integer", "minimum": 1}}}
_HEADERS: dict[int, dict[str, Any]] = {
    401: {"WWW-Authenticate": {"schema": {"type": "string", "const": "Bearer"}}},
    429: _RETRY_AFTER,
    502: _RETRY_AFTER,
    503: _RETRY_AFTER,
    504: _RETRY_AFTER,
}
_QUESTION, _ANSWER, _PROBLEM = (
    {"$ref": f"#/components/schemas/{model.__name__}"} for model in (PostEditRequest, PostEditResponse, Problem)
)
_EVENTS = {
    **{name: TypeAdapter(kind).json_schema() for kind, name in PROGRESS_EVENTS.items()},
    "finding": {"$ref": f"#/components/schemas/{FindingOut.__name__}"},
    "result": _ANSWER,
    "error": _PROBLEM,
    "end": {"type": "object", "properties": {"passages": {"type": "integer"}}, "required": ["passages"]},
}

_STATE = {
    "type": "object",
    "properties": {"state": {"enum": [state.value for state in JobState]}, "note": {"type": "string"}},
    "required": ["state", "note"],
}
_JOB_EVENTS: dict[str, dict[str, Any]] = {
    "progress": {"$ref": "#/components/schemas/JobProgress"},
    "paragraph": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "decision": {"enum": [*(decision.value for decision in Decision), "quarantined"]},
            "edit_rate": {"type": "number"},
        },
        "required": ["id", "decision", "edit_rate"],
    },
    "state": _STATE,
    "end": _STATE,
}


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Document the problems of an operation with these statuses, and 500."""
    return {
        status: {
            "description": _STATUS_DESCRIPTIONS[status],
            "content": {MEDIA_TYPE: {"schema": _PROBLEM}},
            **({"headers": _HEADERS[status]} if status in _HEADERS else {}),
        }
        for status in (*statuses, 500)
    }


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """Document a JSON body that the route parses itself."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def complete_openapi(document: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Add request bodies, their schemas, the configured limits and the key."""
    components = document.setdefault("components", {})
    components.setdefault("schemas", {}).update(_schemas(settings))
    operation = document["paths"]["/v1/post-edit"]["post"]
    operation["requestBody"] = _request(settings)
    operation["responses"]["200"] = _response()
    if settings.api_keys or settings.admin_keys:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        for operations in document["paths"].values():
            for operation in operations.values():
                if "401" in operation["responses"]:
                    operation["security"] = [{"key": []}]
    return document


def job_event_responses() -> dict[int | str, dict[str, Any]]:
    """Document the event stream of a job."""
    events = {"anyOf": [_event(name, schema) for name, schema in _JOB_EVENTS.items()]}
    return {200: {"description": "The events.", "content": {EVENT_STREAM: {"schema": events}}}}


def text_response(description: str) -> dict[int | str, dict[str, Any]]:
    """Document a response in plain text."""
    return {200: {"description": description, "content": {"text/plain": {"schema": {"type": "string"}}}}}


def _schemas(settings: Settings) -> dict[str, Any]:
    _, definitions = models_json_schema(
        [
            (PostEditRequest, "validation"),
            (PostEditResponse, "serialization"),
            (JobProgress, "serialization"),
            (LedgerJson, "validation"),
            (Problem, "serialization"),
            *((model, "validation") for model in REVIEW_REQUESTS),
        ],
        ref_template="#/components/schemas/{model}",
    )
    schemas: dict[str, Any] = definitions["$defs"]
    for name in ("source", "mt"):
        schemas["PostEditRequest"]["properties"][name]["maxLength"] = settings.max_characters
    return schemas


def _request(settings: Settings) -> dict[str, Any]:
    many = {"type": "array", "items": _QUESTION, "minItems": 1, "maxItems": max_passages_per_request(settings)}
    examples = {
        "one": {"summary": "One passage", "value": EXAMPLE_QUESTION},
        "list": {"summary": "A list of passages", "value": [EXAMPLE_QUESTION, EXAMPLE_QUESTION]},
    }
    return {
        "required": True,
        "content": {"application/json": {"schema": {"anyOf": [_QUESTION, many]}, "examples": examples}},
    }


def _response() -> dict[str, Any]:
    many = {"type": "array", "items": {"anyOf": [_ANSWER, _PROBLEM]}}
    examples = {
        "one": {"summary": "One passage", "value": EXAMPLE_ANSWER},
        "list": {"summary": "A list; the second passage failed", "value": [EXAMPLE_ANSWER, EXAMPLE_PROBLEM]},
    }
    return {
        "description": "The post-edit, or a list of post-edits and problems.",
        "content": {
            "application/json": {"schema": {"anyOf": [_ANSWER, many]}, "examples": examples},
            EVENT_STREAM: {"schema": {"anyOf": [_event(*event) for event in _EVENTS.items()]}},
        },
    }


def _event(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of one event of a stream."""
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
    return {"type": "object", "required": ["event", "data"], "properties": {"event": {"const": name}, "data": data}}
