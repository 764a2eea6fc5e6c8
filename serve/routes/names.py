"""The routes of a job's names: read its ledger, and replace it without a model call."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request, Response

from ape.jobs.book_names import BookNames
from ape.jobs.job import Job
from ape.ledger.entity import Ledger
from ape.ledger.files.formats import format_names
from ape.ledger.files.json_ledger import LedgerJson
from ape.settings import Settings
from serve.middleware.auth import auth_dependency, authenticate, owner_of
from serve.middleware.disconnect import cancel_on_disconnect
from serve.middleware.problems import Unreadable
from serve.middleware.request_body import read_body
from serve.routes.job_result import content_disposition
from serve.routes.openapi import problem_responses
from serve.scheduler.scheduler import JobScheduler
from serve.schemas.jobs import JobOut

NamesFormat = Literal["json", "csv", "tsv", "glossary-json", "list", "tbx"]
FormatParameter = Annotated[
    NamesFormat | None, Query(description="format of the names; by default that of the Accept header, else JSON")
]
_MEDIA_TYPES: dict[NamesFormat, tuple[str, str]] = {
    "json": ("application/json", ".json"),
    "csv": ("text/csv", ".csv"),
    "tsv": ("text/tab-separated-values", ".tsv"),
    "glossary-json": ("application/json", ".json"),
    "list": ("text/plain", ".txt"),
    "tbx": ("application/xml", ".tbx"),
}
# File names for messages; a body that is no JSON is recognised by its content, as a file is.
_BODIES = {kind: f"names{suffix}" for kind, suffix in _MEDIA_TYPES.values()}


def add_names_routes(app: FastAPI, settings: Settings) -> None:
    """Add GET and PUT /v1/jobs/{id}/names."""
    auth = [auth_dependency(settings, authenticate)]

    @app.get(
        "/v1/jobs/{id}/names",
        tags=["books"],
        summary="Get the names of a job's book",
        description="Who and what is named in the book, with renderings and genders; empty if the job has no names.",
        response_class=Response,
        responses={200: _document(), **problem_responses(401, 403, 404, 422, 503)},
        dependencies=auth,
    )
    async def names(request: Request, id: str, format: FormatParameter = None) -> Response:
        job = await _scheduler(request).job(id, owner_of(request, settings))
        chosen = format or _accepted(request.headers.get("accept", ""))
        # Reading the names takes as long as writing them.
        text = await _scheduler(request).threads.run(job.owner, lambda: format_names(ledger_of(job), chosen))
        kind, suffix = _MEDIA_TYPES[chosen]
        headers = {
            "Content-Disposition": content_disposition(f"{job.name}.names{suffix}"),
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }
        return Response(text, media_type=kind, headers=headers)

    @app.put(
        "/v1/jobs/{id}/names",
        tags=["books"],
        summary="Replace the names of a job's book",
        description=(
            "Finished paragraphs that the change touches are repaired again, without a model; all others keep their "
            "results, and a finished book is written again. Renderings that the body does not list are looked up in "
            "the book. The body is JSON, CSV, TSV, a list of source->target lines, or TBX."
        ),
        responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 503, 507),
        openapi_extra={"requestBody": {"required": True, "content": _body_content()}},
        dependencies=auth,
    )
    async def replace_names(request: Request, id: str) -> JobOut:
        scheduler = _scheduler(request)
        job = await scheduler.job(id, owner_of(request, settings))
        text, name = await _read_text(request, settings)
        await scheduler.quota.refuse_if_full(job.owner, len(text))
        found = await cancel_on_disconnect(request, scheduler.names.read(job, text, name))
        changed = await scheduler.change_names(job, found)
        counts = await scheduler.threads.run(job.owner, scheduler.store.counts, job.id)
        return JobOut.of(changed, counts, scheduler.pace_of(job.id))


def ledger_of(job: Job) -> Ledger:
    """The job's ledger; an empty one if it has no names."""
    names = BookNames.from_json(job.names)
    return names.ledger if names else Ledger(job.recipe.source_language, job.recipe.target_language)


async def _read_text(request: Request, settings: Settings) -> tuple[str, str]:
    """The body as text, and the name of a file of its type."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _BODIES:
        raise Unreadable(f"The body must be {', '.join(_BODIES)}, not {kind or 'of an unstated type'}.", status=415)
    try:
        text = (await read_body(request, settings.max_body_bytes)).decode()
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"The body is not UTF-8: byte {error.start + 1} is {error.object[error.start]:#04x}."
        ) from error
    return text, _BODIES[kind]


def _accepted(header: str) -> NamesFormat:
    kinds = [part.partition(";")[0].strip().lower() for part in header.split(",")]
    found = (name for kind in kinds for name, (known, _) in _MEDIA_TYPES.items() if known == kind)
    return next(found, "json")


def _document() -> dict[str, Any]:
    kinds = {kind for kind, _ in _MEDIA_TYPES.values()} - {"application/json"}
    content: dict[str, Any] = {"application/json": {"schema": {}}}
    content |= {kind: {"schema": {"type": "string"}} for kind in sorted(kinds)}
    headers = {"Content-Disposition": {"schema": {"type": "string"}, "description": "with the file's name"}}
    return {"description": "The names.", "content": content, "headers": headers}


def _body_content() -> dict[str, Any]:
    schemas: dict[str, Any] = {kind: {"schema": {"type": "string"}} for kind in _BODIES}
    return schemas | {"application/json": {"schema": {"$ref": f"#/components/schemas/{LedgerJson.__name__}"}}}


def _scheduler(request: Request) -> JobScheduler:
    scheduler: JobScheduler = request.app.state.scheduler
    return scheduler
