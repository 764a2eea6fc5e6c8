"""The route POST /v1/books: receive the files, check that they are a pair, and start the job."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from ape.engines import Engine
from ape.errors import EngineUnavailable, InputError
from ape.jobs.job import Job
from ape.jobs.job_files import JobFiles
from ape.jobs.names_update import NamesChoice
from ape.settings import Settings
from serve.middleware.auth import auth_dependency, authenticate, owner_of
from serve.middleware.disconnect import ClientGone, cancel_on_disconnect
from serve.middleware.rate_limit import caller_identity
from serve.middleware.request_log import log_fields
from serve.routes.multipart import (
    MEDIA_TYPE,
    Upload,
    UploadLimits,
    disk_error,
    expected_bytes,
    multipart_boundary,
    receive_upload,
    upload_too_large,
)
from serve.routes.openapi import problem_responses
from serve.scheduler.book_planner import BookPlan
from serve.scheduler.scheduler import JobScheduler
from serve.scheduler.upload_folder import PARTIAL_SUFFIX
from serve.schemas.jobs import BookRequest, JobOut

BOOK_PARTS = ("source", "mt", "bilingual")
FILE_PARTS = (*BOOK_PARTS, "names")


def add_book_routes(app: FastAPI, settings: Settings) -> None:
    """Add POST /v1/books."""

    @app.post(
        "/v1/books",
        tags=["books"],
        summary="Send a book to be post-edited",
        description=(
            "Send the source and its machine translation as the files `source` and `mt`, or both in one file as "
            "`bilingual`. The names of the book are found and repaired first, or taken from a file `names`. "
            "The response is a job, which runs in the background: see GET /v1/jobs/{id}."
        ),
        response_model=JobOut,
        status_code=201,
        responses={
            201: {"headers": {"Location": {"schema": {"type": "string"}, "description": "URL of the job"}}},
            **problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 429, 502, 503, 504, 507),
        },
        openapi_extra=_body(),
        dependencies=[auth_dependency(settings, authenticate)],
    )
    async def send(request: Request) -> Response:
        job = await receive_book(request, settings)
        counts = await asyncio.to_thread(request.app.state.scheduler.store.counts, job.id)
        content = JobOut.of(job, counts, None).model_dump(mode="json")
        return JSONResponse(content, 201, {"Location": f"/v1/jobs/{job.id}"})


async def receive_book(request: Request, settings: Settings) -> Job:
    """Receive the form of a book and plan its job."""
    scheduler: JobScheduler = request.app.state.scheduler
    multipart_boundary(request.headers.get("content-type", ""))
    _refuse_too_large(request, settings.max_book_bytes)
    owner = owner_of(request, settings)
    request.app.state.rate_limit.take(caller_identity(request, settings), 1)
    upload = _BookUpload(scheduler, request.app.state.registry, owner)
    try:
        async with scheduler.quota.admit(owner, expected_bytes(request.headers, settings.max_book_bytes)):
            job = await upload.accept(request, settings)
    except asyncio.CancelledError:
        # uvicorn's graceful shutdown has timed out. Uncaught, this would be a 500.
        raise _stopping() from None
    log_fields(job=job.id)
    scheduler.wake()
    return job


class _BookUpload:
    """Receives one book. On failure, its files and job are removed."""

    def __init__(self, scheduler: JobScheduler, engine: Engine, owner: str) -> None:
        self.id = secrets.token_hex(16)
        self.owner = owner
        self.scheduler = scheduler
        self.engine = engine
        self.folder = scheduler.folder / self.id

    async def accept(self, request: Request, settings: Settings) -> Job:
        async with self.scheduler.receiving_upload(self.id):
            upload = await self._receive(request, settings)
            fields = {name: text for name, text in upload.fields.items() if text}
            # In a thread: a glossary may be long.
            options = await asyncio.to_thread(BookRequest.model_validate, fields)
            try:
                return await self._plan(request, upload, options)
            except InputError as error:
                if error.field == "mt" and "bilingual" in upload.files:
                    error.field = "bilingual"
                raise

    async def _plan(self, request: Request, upload: Upload, options: BookRequest) -> Job:
        files = _files(upload, options)
        await self._refuse_if_abandoned(request)
        async with self.engine.using(options.model) as model:
            plan = BookPlan(
                self.id,
                files,
                self.folder / f"output{files.mt.suffix}",
                options.to_recipe(),
                model=model,
                engine=options.model,
                name=options.name or upload.labels.get("bilingual") or upload.labels["mt"],
                owner=self.owner,
                source_language=options.source_language,
                target_language=options.target_language,
                names=_names(upload, options),
                is_paused=not options.start,
            )
        started = await cancel_on_disconnect(request, self.scheduler.planner.plan(plan))
        await self._refuse_if_abandoned(request)
        return started.job

    async def _refuse_if_abandoned(self, request: Request) -> None:
        """Raise if the client is gone or the service stops: an abandoned job would still cost tokens."""
        if await request.is_disconnected():
            raise ClientGone
        if self.scheduler.is_stopping:
            raise _stopping()

    async def _receive(self, request: Request, settings: Settings) -> Upload:
        partial = self.folder.with_name(f"{self.id}{PARTIAL_SUFFIX}")
        try:
            await asyncio.to_thread(partial.mkdir, mode=0o700)
            upload = await receive_upload(
                request.stream(),
                partial,
                content_type=request.headers.get("content-type", ""),
                files=FILE_PARTS,
                fields=tuple(field.alias or name for name, field in BookRequest.model_fields.items()),
                limits=UploadLimits(whole=settings.max_book_bytes, fields=settings.max_body_bytes),
            )
            await asyncio.to_thread(partial.rename, self.folder)
        except ClientDisconnect as error:
            raise ClientGone from error
        except OSError as error:
            raise disk_error(error) from error
        files = {name: self.folder / path.name for name, path in upload.files.items()}
        # A form without a chosen file sends an empty part without a name.
        files = {name: path for name, path in files.items() if upload.labels[name] != name or path.stat().st_size}
        return Upload(files, {name: upload.labels[name] for name in files}, upload.fields)


def _stopping() -> EngineUnavailable:
    return EngineUnavailable("The service is stopping. The book was discarded; send it again later.")


def _refuse_too_large(request: Request, limit: int) -> None:
    """Check the Content-Length before the body is read."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise upload_too_large(int(length), limit)


def _files(upload: Upload, options: BookRequest) -> JobFiles:
    given = set(upload.files) - {"names"}
    if given == {"bilingual"}:
        return JobFiles(None, upload.files["bilingual"], options.encoding, options.format)
    if given == {"source", "mt"}:
        return JobFiles(upload.files["source"], upload.files["mt"], options.encoding, options.format)
    missing = next((name for name in ("mt", "source") if name not in given), "bilingual")
    raise InputError(
        "Send two files, source and mt, or one file with both, bilingual. Received: "
        f"{' and '.join(name for name in BOOK_PARTS if name in given) or 'none'}.",
        field=missing,
    )


def _names(upload: Upload, options: BookRequest) -> NamesChoice:
    path = upload.files.get("names")
    return NamesChoice("file", path) if path else NamesChoice(options.names)


def _body() -> dict[str, Any]:
    schema = BookRequest.model_json_schema()
    for name, description in (
        ("source", "the original text"),
        ("mt", "the machine translation"),
        ("bilingual", "both in one file, instead of the other two"),
    ):
        schema["properties"][name] = {
            "type": "string",
            "contentMediaType": "application/octet-stream",
            "description": description,
        }
    schema["anyOf"] = [{"required": ["source", "mt"]}, {"required": ["bilingual"]}]
    return {"requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": _flat(schema)}}}}


def _flat(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Remove null from optional fields: a form field is absent instead."""

    def without_null(content: Mapping[str, Any]) -> dict[str, Any]:
        common = {name: value for name, value in content.items() if name not in ("anyOf", "default")}
        variant: dict[str, Any] = next(option for option in content["anyOf"] if option.get("type") != "null")
        return common | variant

    properties = {
        name: without_null(content) if "anyOf" in content else content for name, content in schema["properties"].items()
    }
    return {**schema, "properties": properties}
