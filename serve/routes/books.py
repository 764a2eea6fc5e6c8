"""The route of books: take the files, see that they are a pair, and begin the job."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from ape.engines import Engine
from ape.errors import ApeError, EngineUnavailable, InputError
from ape.jobs.job import Job
from ape.jobs.job_files import JobFiles
from ape.jobs.planning import OpenedFiles, complete_recipe, open_files, plan_job
from ape.settings import Settings
from serve.middleware.auth import auth_dependency, authenticate, owner_of
from serve.middleware.disconnect import ClientGone
from serve.middleware.request_log import log_fields
from serve.routes.multipart import (
    MEDIA_TYPE,
    Upload,
    UploadLimits,
    disk_error,
    multipart_boundary,
    receive_upload,
    upload_too_large,
)
from serve.routes.openapi import problem_responses
from serve.scheduler.scheduler import JobScheduler
from serve.scheduler.upload_folder import PARTIAL_SUFFIX
from serve.schemas.jobs import BookRequest, JobOut

FILE_PARTS = ("source", "mt", "bilingual")


def add_book_routes(app: FastAPI, settings: Settings) -> None:
    """POST /v1/books."""

    @app.post(
        "/v1/books",
        tags=["books"],
        summary="Send a book to be repaired",
        description=(
            "A source and its machine translation as the files `source` and `mt`, or both in one file as `bilingual`. "
            "The answer is the job, which is worked on in the background: see GET /v1/jobs/{id}."
        ),
        response_model=JobOut,
        status_code=201,
        responses={
            201: {"headers": {"Location": {"schema": {"type": "string"}, "description": "of the job"}}},
            **problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 502, 503, 504, 507),
        },
        openapi_extra=_body(),
        dependencies=[auth_dependency(settings, authenticate)],
    )
    async def send(request: Request) -> Response:
        scheduler: JobScheduler = request.app.state.scheduler
        multipart_boundary(request.headers.get("content-type", ""))
        _refuse_too_large(request, settings.max_book_bytes)
        upload = _BookUpload(scheduler, request.app.state.registry, owner_of(request, settings))
        try:
            job = await upload.accept(request, settings)
        except asyncio.CancelledError:
            # uvicorn has drained for long enough. Uncaught, this would be a 500.
            raise _stopping() from None
        log_fields(job=job.id)
        scheduler.wake()
        counts = await asyncio.to_thread(scheduler.store.counts, job.id)
        shown = JobOut.of(job, counts, None).model_dump(mode="json")
        return JSONResponse(shown, 201, {"Location": f"/v1/jobs/{job.id}"})


class _BookUpload:
    """A book on its way in. Whatever fails, nothing of it stays."""

    def __init__(self, scheduler: JobScheduler, engine: Engine, owner: str) -> None:
        self.id = secrets.token_hex(16)
        self.owner = owner
        self.scheduler = scheduler
        self.engine = engine
        self.folder = scheduler.folder / self.id

    async def accept(self, request: Request, settings: Settings) -> Job:
        async with self.scheduler.receiving_upload(self.id):
            upload = await self._receive(request, settings)
            wishes = BookRequest.model_validate({name: text for name, text in upload.fields.items() if text})
            with _use_sender_file_names(upload, self.scheduler):
                files = _files(upload, wishes)
                await self._refuse_if_unwanted(request)
                opened = await self.scheduler.run_in_thread(
                    open_files,
                    files,
                    source_language=wishes.source_language,
                    target_language=wishes.target_language,
                )
                await self._refuse_if_unwanted(request)
                job = await self._begin(opened, wishes, upload)
                await self._refuse_if_unwanted(request)
                return job

    async def _refuse_if_unwanted(self, request: Request) -> None:
        """Raise where nobody would hear of the job: it would spend, and nobody could stop it."""
        if await request.is_disconnected():
            raise ClientGone
        if self.scheduler.is_stopping:
            raise _stopping()

    async def _receive(self, request: Request, settings: Settings) -> Upload:
        part = self.folder.with_name(f"{self.id}{PARTIAL_SUFFIX}")
        try:
            await asyncio.to_thread(part.mkdir, mode=0o700)
            upload = await receive_upload(
                request.stream(),
                part,
                content_type=request.headers.get("content-type", ""),
                files=FILE_PARTS,
                fields=tuple(BookRequest.model_fields),
                limits=UploadLimits(whole=settings.max_book_bytes, fields=settings.max_body_bytes),
            )
            await asyncio.to_thread(part.rename, self.folder)
        except ClientDisconnect as error:
            raise ClientGone from error
        except OSError as error:
            raise disk_error(error) from error
        files = {name: self.folder / path.name for name, path in upload.files.items()}
        return Upload(files, upload.labels, upload.fields)

    async def _begin(self, opened: OpenedFiles, wishes: BookRequest, upload: Upload) -> Job:
        async with self.engine.using(wishes.model) as model:
            recipe = complete_recipe(opened, model, wishes.to_recipe())
        mt = "bilingual" if "bilingual" in upload.files else "mt"
        begun = await self.scheduler.run_in_thread(
            plan_job,
            self.scheduler.store,
            opened,
            recipe,
            id=self.id,
            output=str(self.folder / f"output{opened.files.mt.suffix}"),
            name=wishes.name or upload.labels[mt],
            owner=self.owner,
            engine=wishes.model,
        )
        return begun.job


def _stopping() -> EngineUnavailable:
    return EngineUnavailable("The service is stopping. Nothing of the book was kept; send it again later.")


def _refuse_too_large(request: Request, limit: int) -> None:
    """Where the length is told beforehand, nothing needs to be read."""
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told) > limit:
        raise upload_too_large(int(told), limit)


def _files(upload: Upload, wishes: BookRequest) -> JobFiles:
    given = set(upload.files)
    if given == {"bilingual"}:
        return JobFiles(None, upload.files["bilingual"], wishes.encoding, wishes.format)
    if given == {"source", "mt"}:
        return JobFiles(upload.files["source"], upload.files["mt"], wishes.encoding, wishes.format)
    missing = next((name for name in ("mt", "source") if name not in given), "bilingual")
    raise InputError(
        "Send two files, source and mt, or one file that has both, bilingual; there is "
        f"{' and '.join(name for name in FILE_PARTS if name in given) or 'none'}.",
        field=missing,
    )


@contextmanager
def _use_sender_file_names(upload: Upload, scheduler: JobScheduler) -> Iterator[None]:
    """Sentences about our files become ones about the sender's."""
    try:
        yield
    except ApeError as error:
        text = scheduler.printable(error)
        said = _replace_names(text, upload)
        if isinstance(error, InputError) and error.field == "path":
            error.field = next(
                (name for name, path in upload.files.items() if path.name in text), error.field
            )
        error.args = (said, *error.args[1:])
        raise


def _replace_names(text: str, upload: Upload) -> str:
    """The sender's names for ours, all at once: what they call one file may be our name of the other."""
    labels = {path.name: upload.labels[name] for name, path in upload.files.items()}
    folders = {path.parent.name for path in upload.files.values()}
    if not labels:
        return text
    ours = rf"(?<![\w.-])(?:(?:{'|'.join(folders)})/)?({'|'.join(map(re.escape, labels))})(?![\w-])"
    return re.sub(ours, lambda found: labels[found[1]], text)


def _body() -> dict[str, Any]:
    schema = BookRequest.model_json_schema()
    for name, tells in (
        ("source", "what the author wrote"),
        ("mt", "what the machine made of it"),
        ("bilingual", "both in one file, in the place of the two others"),
    ):
        schema["properties"][name] = {
            "type": "string",
            "contentMediaType": "application/octet-stream",
            "description": tells,
        }
    schema["anyOf"] = [{"required": ["source", "mt"]}, {"required": ["bilingual"]}]
    return {"requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": _flat(schema)}}}}


def _flat(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a form have no null: what is not given is left out."""

    def given(content: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in content.items() if name not in ("anyOf", "default")}
        one: dict[str, Any] = next(one for one in content["anyOf"] if one.get("type") != "null")
        return kept | one

    properties = {
        name: given(content) if "anyOf" in content else content
        for name, content in schema["properties"].items()
    }
    return {**schema, "properties": properties}
