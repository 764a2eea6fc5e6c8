"""The routes of jobs: progress, pause, resume, redo, results. A job is visible to its owner only."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response

from ape.errors import InputError
from ape.jobs.job import Job
from ape.jobs.job_estimate import estimate_stored_job
from ape.jobs.job_paragraph import ParagraphState
from ape.settings import Settings
from serve.middleware.auth import auth_dependency, authenticate, owner_of
from serve.middleware.request_body import read_json
from serve.middleware.server_sent_events import EventStreamResponse
from serve.routes.job_result import MEDIA_TYPES, JobResultResponse, ResultFormat, open_job_result
from serve.routes.openapi import job_event_responses, problem_responses
from serve.scheduler.concurrency import book_concurrency
from serve.scheduler.scheduler import JobScheduler
from serve.schemas.jobs import MAX_LISTED, JobDetails, JobOut, JobPlan, JobsResponse, RedoRequest, job_details

Limit = Annotated[int, Query(ge=1, le=100, description="page size")]
After = Annotated[str | None, Query(min_length=1, max_length=100, description="the `next` of the previous page")]
Partial = Annotated[bool, Query(description="return an unfinished result of a job that is not done")]
Format = Annotated[ResultFormat, Query(description="the book in its own format, an export format, or the report")]


def add_job_routes(app: FastAPI, settings: Settings) -> None:
    """Add GET /v1/jobs and the routes below /v1/jobs/{id}."""
    _add_read_routes(app, settings)
    _add_change_routes(app, settings)


def _add_read_routes(app: FastAPI, settings: Settings) -> None:
    auth = [auth_dependency(settings, authenticate)]

    @app.get(
        "/v1/jobs",
        tags=["books"],
        summary="List your jobs, newest first",
        responses=problem_responses(401, 403, 404, 422, 503),
        dependencies=auth,
    )
    async def jobs(request: Request, limit: Limit = 20, after: After = None) -> JobsResponse:
        scheduler, owner = _scheduler(request), owner_of(request, settings)
        if after is not None:
            await scheduler.job(after, owner)
        return await asyncio.to_thread(list_jobs, scheduler, owner, limit, after)

    @app.get(
        "/v1/jobs/{id}",
        tags=["books"],
        summary="Get a job",
        responses=problem_responses(401, 403, 404, 422, 503),
        dependencies=auth,
    )
    async def job(request: Request, id: str) -> JobDetails:
        return await asyncio.to_thread(details_of, _scheduler(request), await _job(request, settings, id))

    @app.get(
        "/v1/jobs/{id}/plan",
        tags=["books"],
        summary="Get the plan of a job",
        description="What is edited, what is left alone and why, and estimates of time and cost for the whole book.",
        responses=problem_responses(401, 403, 404, 422, 503),
        dependencies=auth,
    )
    async def plan(request: Request, id: str) -> JobPlan:
        found = await _job(request, settings, id)
        scheduler = _scheduler(request)
        return await scheduler.threads.run(found.owner, plan_of, scheduler, found, settings)

    @app.get(
        "/v1/jobs/{id}/events",
        tags=["books"],
        summary="Stream the progress of a job",
        description=(
            "Server-sent events: `progress` now and after every change, `paragraph` for each finished paragraph, "
            "`state`, and `end`. Disconnecting does not affect the job."
        ),
        response_class=Response,
        responses={**job_event_responses(), **problem_responses(401, 403, 404, 422, 429, 503)},
        dependencies=auth,
    )
    async def events(request: Request, id: str) -> Response:
        scheduler, found = _scheduler(request), await _job(request, settings, id)
        admission = scheduler.streams.admit(owner_of(request, settings))
        return EventStreamResponse(scheduler.progress.subscribe(found.id), admission=admission)

    @app.get(
        "/v1/jobs/{id}/result",
        tags=["books"],
        summary="Download the result of a job",
        response_class=Response,
        responses={**_files(), **problem_responses(401, 403, 404, 409, 422, 503)},
        dependencies=auth,
    )
    async def result(request: Request, id: str, format: Format = "book", partial: Partial = False) -> Response:
        found = await _job(request, settings, id)
        return JobResultResponse(await open_job_result(_scheduler(request), found, format, partial=partial))


def _add_change_routes(app: FastAPI, settings: Settings) -> None:
    auth = [auth_dependency(settings, authenticate)]

    @app.post(
        "/v1/jobs/{id}/pause",
        tags=["books"],
        summary="Pause a job",
        responses=problem_responses(401, 403, 404, 409, 422, 503),
        dependencies=auth,
    )
    async def pause(request: Request, id: str) -> JobOut:
        return await _job_out(request, await _scheduler(request).pause(await _job(request, settings, id)))

    @app.post(
        "/v1/jobs/{id}/resume",
        tags=["books"],
        summary="Resume a paused or failed job",
        responses=problem_responses(401, 403, 404, 409, 422, 503),
        dependencies=auth,
    )
    async def resume(request: Request, id: str) -> JobOut:
        return await _job_out(request, await _scheduler(request).resume(await _job(request, settings, id)))

    @app.post(
        "/v1/jobs/{id}/cancel",
        tags=["books"],
        summary="Stop a job for good and keep what is finished",
        responses=problem_responses(401, 403, 404, 409, 422, 503),
        dependencies=auth,
    )
    async def cancel(request: Request, id: str) -> JobOut:
        return await _job_out(request, await _scheduler(request).cancel(await _job(request, settings, id)))

    @app.post(
        "/v1/jobs/{id}/redo",
        tags=["books"],
        summary="Edit paragraphs of a job again",
        description="A finished job continues with them; a paused job stays paused.",
        responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 503),
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": RedoRequest.model_json_schema()}},
            }
        },
        dependencies=auth,
    )
    async def redo(request: Request, id: str) -> JobOut:
        found = await _job(request, settings, id)
        given = RedoRequest.model_validate(await read_json(request, settings))
        if not (given.paragraphs or given.rejected or given.quarantined):
            raise InputError("Choose what to edit again: paragraphs, rejected or quarantined.")
        changed = await _scheduler(request).redo(
            found, paragraphs=tuple(given.paragraphs), rejected=given.rejected, quarantined=given.quarantined
        )
        return await _job_out(request, changed)

    @app.delete(
        "/v1/jobs/{id}",
        tags=["books"],
        summary="Cancel a job and delete it with its files",
        status_code=204,
        responses=problem_responses(401, 403, 404, 422, 503),
        dependencies=auth,
    )
    async def remove(request: Request, id: str) -> None:
        await _scheduler(request).remove(await _job(request, settings, id))


async def _job(request: Request, settings: Settings, id: str) -> Job:
    """Return the caller's job; a job of another owner is unknown."""
    return await _scheduler(request).job(id, owner_of(request, settings))


async def _job_out(request: Request, job: Job) -> JobOut:
    scheduler = _scheduler(request)
    counts = await asyncio.to_thread(scheduler.store.counts, job.id)
    return JobOut.of(job, counts, scheduler.pace_of(job.id))


def list_jobs(scheduler: JobScheduler, owner: str, limit: int, after: str | None) -> JobsResponse:
    """A page of the owner's jobs. Called in a thread."""
    ours = [job for job in scheduler.store.jobs(owner=owner, with_names=False) if scheduler.owns(job)]
    first = next((place + 1 for place, job in enumerate(ours) if job.id == after), 0)
    page = ours[first : first + limit]
    return JobsResponse(
        jobs=[JobOut.of(job, scheduler.store.counts(job.id), scheduler.pace_of(job.id)) for job in page],
        next=page[-1].id if first + limit < len(ours) else None,
    )


def plan_of(scheduler: JobScheduler, job: Job, settings: Settings) -> JobPlan:
    """The plan of a job. Called in a thread."""
    concurrency = book_concurrency(settings)
    return JobPlan.of(estimate_stored_job(scheduler.store, job, settings, concurrency=concurrency), job)


def details_of(scheduler: JobScheduler, job: Job) -> JobDetails:
    """The details of a job. Called in a thread."""
    store = scheduler.store
    counts = store.counts(job.id)
    rows = store.rows(job.id, state=ParagraphState.QUARANTINED) if counts.quarantined else iter(())
    return job_details(
        job,
        counts,
        scheduler.pace_of(job.id),
        chapters=store.chapters(job.id),
        quarantined=list(islice(rows, MAX_LISTED)),
    )


def _files() -> dict[int | str, dict[str, Any]]:
    content = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in sorted(MEDIA_TYPES)}
    headers = {"Content-Disposition": {"schema": {"type": "string"}, "description": "with the file's name"}}
    return {200: {"description": "The file.", "content": content, "headers": headers}}


def _scheduler(request: Request) -> JobScheduler:
    scheduler: JobScheduler = request.app.state.scheduler
    return scheduler
