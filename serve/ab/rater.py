"""What a rater's link leads to: the page, the sheet with the votes so far, and the place where votes are put.

The link is the key. It is a secret, so it is kept out of the log and of what the browser tells other sites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, HTTPException, Request, Response

from ape.errors import InputError, UnknownTrial
from ape.settings import Settings
from serve.ab.html import html, page, plain
from serve.ab.trials import Shelf
from serve.log import note
from serve.work import read_json

if TYPE_CHECKING:
    from eval.ab.store import Trials
    from eval.preference.vote import Vote

_LOGGED = "/ab/r/…"


def add_rater_routes(app: FastAPI, settings: Settings, shelf: Shelf) -> None:
    """GET /ab/r/{token} and /ab/r/{token}/sheet, PUT /ab/r/{token}/votes/{item}."""

    @app.get("/ab/r/{token}", include_in_schema=False)
    async def rate(token: str) -> Response:
        note(path=_LOGGED)
        try:
            return html(await shelf.ask(lambda trials: _page(trials, token)))
        except UnknownTrial as error:
            return page("told.html", status=404, title="This link leads nowhere", words=str(error))

    @app.get("/ab/r/{token}/sheet", include_in_schema=False)
    async def sheet(token: str) -> Response:
        note(path=f"{_LOGGED}/sheet")
        return plain(await shelf.ask(lambda trials: _sheet(trials, token)))

    @app.put("/ab/r/{token}/votes/{item}", include_in_schema=False)
    async def vote(request: Request, token: str, item: str) -> Response:
        note(path=f"{_LOGGED}/votes")
        given = await read_json(request, settings)
        return plain(told(await shelf.ask(lambda trials: _save(trials, token, item, given))))

    @app.api_route(
        "/ab/r/{rest:path}", methods=["GET", "PUT", "POST", "DELETE", "PATCH"], include_in_schema=False
    )
    async def nothing(rest: str) -> Response:
        note(path=_LOGGED)  # it may begin with a secret all the same
        raise HTTPException(404, "There is nothing here. A rater's link has one part after /ab/r/.")


def _page(trials: Trials, token: str) -> str:
    from eval.ab.page import served
    from eval.ab.sheet import public

    link = trials.link(token)
    return served(public(trials.trial(link.trial), link.rater))


def _sheet(trials: Trials, token: str) -> dict[str, Any]:
    from eval.ab.page import content
    from eval.ab.sheet import public

    link = trials.link(token)
    votes = trials.votes(link.trial, rater=link.rater)
    return content(public(trials.trial(link.trial), link.rater), [told(vote) for vote in votes])


def _save(trials: Trials, token: str, item: str, given: Any) -> Vote:
    """The vote as it is kept; it replaces the one before."""
    from eval.ab.ballot import Ballots, read_answer

    link = trials.link(token)
    trial = trials.trial(link.trial)
    if not any(one.id == item for one in trial.items):
        raise HTTPException(404, "There is no such passage in this test, so the vote was not kept.")
    if isinstance(given, dict) and given.setdefault("item", item) != item:
        raise InputError("The vote is for another item than its address.", field="item")
    vote = Ballots(trial, link.rater).vote(read_answer(given))
    return trials.save(trial.id, vote, replace=True)


def told(vote: Vote) -> dict[str, Any]:
    """A vote as its rater may see it: A and B, and no word of systems or of what kind of item it was."""
    return {
        "item": vote.item,
        "choice": vote.choice,
        "confidence": vote.confidence,
        "believed_human": vote.believed_human,
        "errors": {side: list(kinds) for side, kinds in vote.errors.items()},
        "comment": vote.comment,
        "at": vote.at,
    }
