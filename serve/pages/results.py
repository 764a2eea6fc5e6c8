"""For whoever runs a test: the list of tests, how each stands while people vote, and the votes to take away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fastapi import FastAPI, Request, Response

from ape.errors import UnknownTrial
from serve.pages.interim_results import interim_results
from serve.pages.responses import PAGE_HEADERS, page_response
from serve.pages.trial_store import LazyTrialStore

if TYPE_CHECKING:
    from eval.human.trial_store import TrialStore

_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class TrialListing:
    """A test in the list."""

    id: str
    name: str
    systems: tuple[str, ...]
    items: int
    raters: int
    votes: int


def add_result_routes(app: FastAPI, shelf: LazyTrialStore, *, seeing: Any) -> None:
    """GET /ab, /ab/{trial}/results and the votes as files."""

    @app.get("/ab", include_in_schema=False, dependencies=[seeing])
    async def tests() -> Response:
        return page_response("trials.html", tests=await shelf.ask(_list_trials))

    @app.get("/ab/{trial}/results", include_in_schema=False, dependencies=[seeing])
    async def results(request: Request, trial: str) -> Response:
        known = request.headers.get("if-none-match", "").strip('"')
        try:
            mark, found = await shelf.ask(lambda trials: interim_results(trials, trial, known))
        except UnknownTrial as error:
            return page_response("message.html", status=404, title="No such test", words=str(error))
        except ModuleNotFoundError as error:
            words = f"This needs {error.name}, which is not installed. Type: pip install 'ape-books[eval]'"
            return page_response(
                "message.html", status=503, title="The votes can't be counted here", words=words
            )
        headers = {"ETag": f'"{mark}"', "Cache-Control": "no-cache"}
        if found is None:
            return Response(status_code=304, headers=PAGE_HEADERS | headers)
        return page_response("results.html", headers=headers, live=True, standing=found)

    @app.get("/ab/{trial}/votes.{kind}", include_in_schema=False, dependencies=[seeing])
    async def votes(trial: str, kind: Literal["jsonl", "csv"]) -> Response:
        text = await shelf.ask(lambda trials: _votes(trials, trial, kind))
        there = {"Content-Disposition": f'attachment; filename="votes.{kind}"'}
        return Response(
            text.encode("utf-8", "replace"), media_type=_TYPES[kind], headers=PAGE_HEADERS | there
        )


def _votes(trials: TrialStore, id: str, kind: Literal["jsonl", "csv"]) -> str:
    from eval.human.vote_writer import votes_to_csv, votes_to_jsonl

    write = {"jsonl": votes_to_jsonl, "csv": votes_to_csv}[kind]
    return write(trials.votes(id), id)


def _list_trials(trials: TrialStore) -> list[TrialListing]:
    found = []
    for trial in trials.trials():
        raters = trials.raters(trial.id)
        votes = sum(rater.votes for rater in raters)
        found.append(TrialListing(trial.id, trial.name, trial.systems, len(trial.items), len(raters), votes))
    return found
