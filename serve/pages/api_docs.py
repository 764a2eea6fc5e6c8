"""The page /docs: an OpenAPI browser that loads nothing from other servers."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response

from serve.pages.responses import page_response


def add_api_docs_routes(app: FastAPI) -> None:
    """Add GET /docs."""

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return page_response(request, "api_docs.html", nav="docs", scripts=["api_docs.js"])
