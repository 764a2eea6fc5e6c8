"""The passage page: paste a source and its translation, and switch each change on or off."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response

from ape.settings import Settings
from ape.text.languages import LANGUAGE_NAMES
from serve.pages.responses import page_auth, page_response


def add_passage_page(app: FastAPI, settings: Settings) -> None:
    """Add GET /passage."""
    languages = sorted(LANGUAGE_NAMES.items(), key=lambda pair: pair[1])

    @app.get("/passage", include_in_schema=False, dependencies=[page_auth(settings)])
    async def passage(request: Request) -> Response:
        return page_response(
            request,
            "passage.html",
            nav="passage",
            scripts=["passage.js"],
            languages=languages,
            max_characters=settings.max_characters,
        )
