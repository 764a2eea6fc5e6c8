"""Pages for the people who run blind tests: the list, interim results, and votes to download."""

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
    """A blind test in the list."""

    id: str
    name: str
    systems: tuple[str, ...]
    items: int
    raters: int
    votes: int


def add_result_routes(app: FastAPI, trial_store: LazyTrialStore, *, auth: Any) -> None:
    """Add GET /ab, /ab/{trial}/results and the votes as files."""

    @app.get("/ab", include_in_schema=False, dependencies=[auth])
    async def tests(request: Request) -> Response:
        return page_response(request, "trials.html", nav="evaluation", tests=await trial_store.run(_list_trials))

    @app.get("/ab/{trial}/results", include_in_schema=False, dependencies=[auth])
    async def results(request: Request, trial: str) -> Response:
        known_etag = request.headers.get("if-none-match", "").strip('"')
        try:
            etag, found = await trial_store.run(lambda trials: interim_results(trials, trial, known_etag))
        except UnknownTrial as error:
            return page_response(request, "message.html", status=404, title="No such test", message=str(error))
        except ModuleNotFoundError as error:
            message = f"This needs {error.name}, which is not installed: pip install 'ape-books[eval]'"
            return page_response(
                request, "message.html", status=503, title="Results are not available here", message=message
            )
        headers = {"ETag": f'"{etag}"', "Cache-Control": "no-cache"}
        if found is None:
            return Response(status_code=304, headers=PAGE_HEADERS | headers)
        return page_response(
            request, "results.html", nav="evaluation", headers=headers, scripts=["auto_refresh.js"], results=found
        )

    @app.get("/ab/{trial}/votes.{kind}", include_in_schema=False, dependencies=[auth])
    async def votes(trial: str, kind: Literal["jsonl", "csv"]) -> Response:
        text = await trial_store.run(lambda trials: _votes(trials, trial, kind))
        disposition = {"Content-Disposition": f'attachment; filename="votes.{kind}"'}
        return Response(text.encode("utf-8", "replace"), media_type=_TYPES[kind], headers=PAGE_HEADERS | disposition)


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
