"""The routes of links for one reviewer of one book: made, listed and revoked by the owner."""

from __future__ import annotations

import asyncio

from fastapi import FastAPI, Request

from ape.jobs.database import Database
from ape.jobs.job import Job
from ape.review.links import create_link, list_links, revoke_link
from ape.settings import Settings
from serve.middleware.auth import auth_dependency, authenticate, owner_of
from serve.middleware.request_body import read_json
from serve.routes.openapi import json_body, problem_responses
from serve.schemas.review import LinkOut, LinkRequest, LinksOut


def add_review_link_routes(app: FastAPI, settings: Settings) -> None:
    """Add GET and POST /v1/jobs/{id}/review/links, and DELETE of one."""
    auth = [auth_dependency(settings, authenticate)]

    async def owned(request: Request, id: str) -> tuple[Database, Job]:
        scheduler = request.app.state.scheduler
        return scheduler.store.database, await scheduler.job(id, owner_of(request, settings))

    @app.get(
        "/v1/jobs/{id}/review/links",
        tags=["review"],
        summary="List the links to a review",
        responses=problem_responses(401, 403, 404, 422, 503),
        dependencies=auth,
    )
    async def links(request: Request, id: str) -> LinksOut:
        database, job = await owned(request, id)
        return LinksOut(links=[LinkOut.of(one) for one in await asyncio.to_thread(list_links, database, job.id)])

    @app.post(
        "/v1/jobs/{id}/review/links",
        tags=["review"],
        summary="Make a link for one reviewer",
        description="Its secret is shown once. It opens the review of this book and nothing else.",
        status_code=201,
        responses=problem_responses(400, 401, 403, 404, 413, 415, 422, 503),
        openapi_extra=json_body(LinkRequest),
        dependencies=auth,
    )
    async def create(request: Request, id: str) -> LinkOut:
        database, job = await owned(request, id)
        given = LinkRequest.model_validate(await read_json(request, settings))
        link, token = await asyncio.to_thread(create_link, database, job.id, given.name, days=given.days)
        return LinkOut.of(link, token=token)

    @app.delete(
        "/v1/jobs/{id}/review/links/{link}",
        tags=["review"],
        summary="Revoke a link",
        status_code=204,
        responses=problem_responses(401, 403, 404, 422, 503),
        dependencies=auth,
    )
    async def revoke(request: Request, id: str, link: str) -> None:
        database, job = await owned(request, id)
        await asyncio.to_thread(revoke_link, database, job.id, link)
