"""The routes /v1/files and /v1/batches, in OpenAI's dialect: clients written for its batch API work unchanged."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import time
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from starlette.requests import ClientDisconnect

from ape.errors import InputError, UnknownBatch
from ape.jobs.batch import Batch, BatchFile
from ape.settings import Settings
from serve.middleware.auth import auth_dependency, authenticate, owner_of
from serve.middleware.book_quota import JobQuotaReached
from serve.middleware.disconnect import ClientGone
from serve.middleware.rate_limit import caller_identity
from serve.middleware.request_body import read_json
from serve.routes.job_result import JobResultFile, JobResultResponse, open_result
from serve.routes.multipart import MEDIA_TYPE, UploadLimits, disk_error, expected_bytes, receive_upload
from serve.routes.openapi import problem_responses
from serve.scheduler.batch_runner import BatchRunner
from serve.scheduler.upload_folder import PARTIAL_SUFFIX
from serve.schemas.batches import BATCH_PURPOSE, BatchList, BatchOut, BatchRequest, FileDeleted, FileList, FileOut

Limit = Annotated[int, Query(ge=1, le=100, description="page size")]
After = Annotated[str | None, Query(min_length=1, max_length=100, description="the last id of the previous page")]
_JSONL = "application/jsonl"


def add_batch_routes(app: FastAPI, settings: Settings) -> None:
    """Add the routes of files and of batches."""
    _add_file_routes(app, settings)
    _add_batch_routes(app, settings)


def _add_file_routes(app: FastAPI, settings: Settings) -> None:
    auth = [auth_dependency(settings, authenticate)]

    @app.post(
        "/v1/files",
        tags=["batches"],
        summary="Upload a file of requests for a batch",
        description=(
            "A form with the field `purpose`, which is `batch`, and the file `file`: JSONL, each line with "
            "`custom_id`, `method` (POST), `url` (/v1/post-edit) and `body`."
        ),
        responses=problem_responses(400, 401, 403, 413, 415, 422, 429, 503, 507),
        openapi_extra=_upload_body(),
        dependencies=auth,
    )
    async def upload(request: Request) -> FileOut:
        owner = owner_of(request, settings)
        request.app.state.rate_limit.take(caller_identity(request, settings), 1)
        size = expected_bytes(request.headers, settings.max_book_bytes)
        async with _runner(request).quota.admit(owner, size):
            return FileOut.of(await _receive_file(request, settings, owner))

    @app.get(
        "/v1/files",
        tags=["batches"],
        summary="List your files, newest first",
        responses=problem_responses(401, 403, 404, 422, 503),
        dependencies=auth,
    )
    async def files(
        request: Request, limit: Limit = 100, after: After = None, purpose: Annotated[str | None, Query()] = None
    ) -> FileList:
        store, owner = _runner(request).store, owner_of(request, settings)
        found = await asyncio.to_thread(store.files, owner, limit=limit + 1, after=after, purpose=purpose)
        return FileList(data=[FileOut.of(file) for file in found[:limit]], has_more=len(found) > limit)

    @app.get(
        "/v1/files/{id}",
        tags=["batches"],
        summary="Get a file's name and size",
        responses=problem_responses(401, 403, 404, 422, 503),
        dependencies=auth,
    )
    async def file(request: Request, id: str) -> FileOut:
        return FileOut.of(await _file(request, settings, id))

    @app.get(
        "/v1/files/{id}/content",
        tags=["batches"],
        summary="Download a file",
        response_class=Response,
        responses={
            200: {"content": {_JSONL: {"schema": {"type": "string", "format": "binary"}}}},
            **problem_responses(401, 403, 404, 422, 503),
        },
        dependencies=auth,
    )
    async def content(request: Request, id: str) -> Response:
        found = await _file(request, settings, id)
        return JobResultResponse(await asyncio.to_thread(_open, _runner(request), found))

    @app.delete(
        "/v1/files/{id}",
        tags=["batches"],
        summary="Delete a file",
        responses=problem_responses(401, 403, 404, 409, 422, 503),
        dependencies=auth,
    )
    async def delete(request: Request, id: str) -> FileDeleted:
        runner = _runner(request)
        await asyncio.to_thread(runner.store.remove_file, id, owner_of(request, settings))
        await asyncio.to_thread(runner.path(id).unlink, missing_ok=True)
        return FileDeleted(id=id)


def _add_batch_routes(app: FastAPI, settings: Settings) -> None:
    auth = [auth_dependency(settings, authenticate)]

    @app.post(
        "/v1/batches",
        tags=["batches"],
        summary="Begin a batch",
        description="All lines of the file are checked first: a batch is begun whole, or fails with the reasons.",
        responses=problem_responses(400, 401, 403, 404, 413, 415, 422, 429, 503),
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": BatchRequest.model_json_schema()}},
            }
        },
        dependencies=auth,
    )
    async def begin(request: Request) -> BatchOut:
        asked = BatchRequest.model_validate(await read_json(request, settings))
        owner, runner = owner_of(request, settings), _runner(request)
        input_file = await asyncio.to_thread(runner.store.file, asked.input_file_id, owner)
        if input_file.purpose != BATCH_PURPOSE:
            raise InputError("This is a file of answers. Give an uploaded file of requests.", field="input_file_id")
        batch = Batch(
            id=f"batch_{secrets.token_hex(16)}",
            owner=owner,
            input_file=input_file.id,
            endpoint=asked.endpoint,
            window=asked.completion_window,
            created=time.time(),
            notes=asked.metadata or {},
        )
        async with runner.adding:
            await asyncio.to_thread(_refuse_too_many, runner, owner, settings.max_jobs)
            await asyncio.to_thread(runner.store.add, batch)
        runner.wake()
        return BatchOut.of(batch)

    @app.get(
        "/v1/batches",
        tags=["batches"],
        summary="List your batches, newest first",
        responses=problem_responses(401, 403, 404, 422, 503),
        dependencies=auth,
    )
    async def batches(request: Request, limit: Limit = 20, after: After = None) -> BatchList:
        store, owner = _runner(request).store, owner_of(request, settings)
        found = await asyncio.to_thread(store.batches, owner, limit=limit + 1, after=after)
        return BatchList(data=[BatchOut.of(batch) for batch in found[:limit]], has_more=len(found) > limit)

    @app.get(
        "/v1/batches/{id}",
        tags=["batches"],
        summary="Get a batch",
        responses=problem_responses(401, 403, 404, 422, 503),
        dependencies=auth,
    )
    async def batch(request: Request, id: str) -> BatchOut:
        return BatchOut.of(await asyncio.to_thread(_runner(request).store.batch, id, owner_of(request, settings)))

    @app.post(
        "/v1/batches/{id}/cancel",
        tags=["batches"],
        summary="Cancel a batch; what is answered already can be downloaded",
        responses=problem_responses(401, 403, 404, 409, 422, 503),
        dependencies=auth,
    )
    async def cancel(request: Request, id: str) -> BatchOut:
        runner = _runner(request)
        cancelled = await asyncio.to_thread(runner.store.cancel, id, owner_of(request, settings))
        runner.wake(cancelled=id)
        return BatchOut.of(cancelled)


# Sent by clients that let files expire. Accepted for compatibility: files are kept until they are deleted.
_EXPIRY = ("expires_after[anchor]", "expires_after[seconds]")


def _runner(request: Request) -> BatchRunner:
    runner: BatchRunner = request.app.state.batches
    return runner


async def _file(request: Request, settings: Settings, id: str) -> BatchFile:
    return await asyncio.to_thread(_runner(request).store.file, id, owner_of(request, settings))


def _open(runner: BatchRunner, file: BatchFile) -> JobResultFile:
    try:
        return open_result(runner.path(file.id), _JSONL, file.name)
    except OSError as error:
        raise UnknownBatch(f"The content of {file.id!r} is not on this machine.") from error


def _refuse_too_many(runner: BatchRunner, owner: str, limit: int) -> None:
    count = len(runner.store.unfinished(owner))
    if count >= limit:
        raise JobQuotaReached(f"This key has {count:,} unfinished batches, of at most {limit:,} (max_jobs). Wait.")


async def _receive_file(request: Request, settings: Settings, owner: str) -> BatchFile:
    runner = _runner(request)
    name = f"file-{secrets.token_hex(16)}"
    folder = runner.path(f"{name}{PARTIAL_SUFFIX}")
    try:
        await asyncio.to_thread(folder.mkdir, mode=0o700)
        upload = await receive_upload(
            request.stream(),
            folder,
            content_type=request.headers.get("content-type", ""),
            files=("file",),
            fields=("purpose", *_EXPIRY),
            limits=UploadLimits(whole=settings.max_book_bytes, fields=settings.max_body_bytes),
        )
        if upload.fields.get("purpose") != BATCH_PURPOSE:
            raise InputError("purpose: must be batch.", field="purpose")
        if "file" not in upload.files:
            raise InputError("Send the requests as the part `file`.", field="file")
        path = upload.files["file"]
        file = BatchFile(name, owner, upload.labels["file"], BATCH_PURPOSE, path.stat().st_size, time.time())
        await asyncio.to_thread(path.rename, runner.path(name))
        await asyncio.to_thread(runner.store.add_file, file)
        return file
    except ClientDisconnect as error:
        raise ClientGone from error
    except OSError as error:
        raise disk_error(error) from error
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _upload_body() -> dict[str, Any]:
    properties = {
        "purpose": {"const": BATCH_PURPOSE},
        "file": {"type": "string", "contentMediaType": "application/octet-stream", "description": "JSONL"},
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": ["purpose", "file"],
        "additionalProperties": False,
    }
    return {"requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": schema}}}}
