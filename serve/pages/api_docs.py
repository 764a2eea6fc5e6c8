"""The page /docs: an OpenAPI browser that loads nothing from other servers."""

from __future__ import annotations

from fastapi import FastAPI, Response

from serve.pages.responses import page_response, script_response

_SCRIPT = "api_docs.js"


def add_api_docs_routes(app: FastAPI) -> None:
    """Add GET /docs and its script."""

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return page_response("api_docs.html", script_address=f"/docs/{_SCRIPT}", has_api=True)

    @app.get(f"/docs/{_SCRIPT}", include_in_schema=False)
    async def script() -> Response:
        return script_response(_SCRIPT)
