"""Routes behind a rater's link: the page, its sheet with the votes so far, and saving a vote.

The link is the credential, so it is kept out of the log and of the Referer header.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, HTTPException, Request, Response

from ape.errors import InputError, UnknownTrial
from ape.settings import Settings
from serve.middleware.request_body import read_json
from serve.middleware.request_log import log_fields
from serve.pages.responses import ascii_json_response, html_response, page_response
from serve.pages.trial_store import LazyTrialStore

if TYPE_CHECKING:
    from eval.human.trial_store import TrialStore
    from eval.human.vote import Vote

_LOGGED_PATH = "/ab/r/…"


def add_rater_routes(app: FastAPI, settings: Settings, trial_store: LazyTrialStore) -> None:
    """Add GET /ab/r/{token}, its /sheet and /next, and PUT /ab/r/{token}/votes/{item}."""

    @app.get("/ab/r/{token}", include_in_schema=False)
    async def rate(request: Request, token: str) -> Response:
        log_fields(path=_LOGGED_PATH)
        try:
            return html_response(await trial_store.run(lambda trials: _page(trials, token)))
        except UnknownTrial as error:
            return page_response(
                request, "message.html", status=404, bare=True, title="This link leads nowhere", message=str(error)
            )

    @app.get("/ab/r/{token}/sheet", include_in_schema=False)
    async def sheet(token: str) -> Response:
        log_fields(path=f"{_LOGGED_PATH}/sheet")
        return ascii_json_response(await trial_store.run(lambda trials: _sheet(trials, token)))

    @app.get("/ab/r/{token}/next", include_in_schema=False)
    async def following(token: str) -> Response:
        log_fields(path=f"{_LOGGED_PATH}/next")
        return ascii_json_response(await trial_store.run(lambda trials: _next(trials, token)))

    @app.put("/ab/r/{token}/votes/{item}", include_in_schema=False)
    async def vote(request: Request, token: str, item: str) -> Response:
        log_fields(path=f"{_LOGGED_PATH}/votes")
        await trial_store.run(lambda trials: trials.find_link(token))  # nothing is read from strangers
        given = await read_json(request, settings)
        return ascii_json_response(public_vote(await trial_store.run(lambda trials: _save(trials, token, item, given))))

    @app.api_route("/ab/r/{rest:path}", methods=["GET", "PUT", "POST", "DELETE", "PATCH"], include_in_schema=False)
    async def nothing(rest: str) -> Response:
        log_fields(path=_LOGGED_PATH)  # the path may still contain a token
        raise HTTPException(404, "Not found. A rater's link has one part after /ab/r/.")


def _page(trials: TrialStore, token: str) -> str:
    from eval.human.rater_page import online_page
    from eval.human.sheet import public_sheet

    link = trials.find_link(token)
    return online_page(public_sheet(trials.trial(link.trial), link.rater))


def _sheet(trials: TrialStore, token: str) -> dict[str, Any]:
    from eval.human.allocation import allocated_items
    from eval.human.rater_page import page_content
    from eval.human.sheet import allocated_sheet, public_sheet

    link = trials.find_link(token)
    trial = trials.trial(link.trial)
    votes = trials.votes(link.trial, rater=link.rater)
    if trial.per_rater is None:
        return page_content(public_sheet(trial, link.rater), [public_vote(vote) for vote in votes])
    sheet = allocated_sheet(trial, link.rater, allocated_items(trial, link.rater, trials.votes(link.trial)))
    return page_content(sheet, [public_vote(vote) for vote in votes])


def _next(trials: TrialStore, token: str) -> dict[str, Any]:
    """The item that the rater sees next, or None."""
    from eval.human.allocation import next_item
    from eval.human.sheet import allocated_sheet

    link = trials.find_link(token)
    trial = trials.trial(link.trial)
    found = next_item(trial, link.rater, trials.votes(link.trial))
    return {"item": allocated_sheet(trial, link.rater, [found.id])["items"][0] if found else None}


def _save(trials: TrialStore, token: str, item: str, given: Any) -> Vote:
    """Save the vote in place of an earlier one, and return it."""
    from eval.human.answer import VoteBuilder, read_answer

    link = trials.find_link(token)
    trial = trials.trial(link.trial)
    if not any(one.id == item for one in trial.items):
        raise HTTPException(404, "There is no such item in this test, so the vote was not saved.")
    if isinstance(given, dict) and given.setdefault("item", item) != item:
        raise InputError("The vote is for another item than its address.", field="item")
    vote = VoteBuilder(trial, link.rater).build_vote(read_answer(given))
    return trials.save(trial.id, vote, replace=True)


def public_vote(vote: Vote) -> dict[str, Any]:
    """Return the vote as its rater may see it, without the systems and the kind of item."""
    return {
        "item": vote.item,
        "choice": vote.choice,
        "confidence": vote.confidence,
        "believed_human": vote.believed_human,
        "errors": {side: list(kinds) for side, kinds in vote.errors.items()},
        "scores": dict(vote.scores),
        "spans": {side: [asdict(span) for span in spans] for side, spans in vote.spans.items()},
        "comment": vote.comment,
        "at": vote.at,
    }
