"""Pages of model comparisons: the folders written by `ape compare`, with the report of each."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse

from serve.pages.responses import PAGE_HEADERS, page_response

MANIFEST, REPORT = "manifest.json", "report.html"
FILES = (MANIFEST, "results.json", "outputs.jsonl")
# The report restricts itself as well; but it is a file from a folder, and other pages here are behind a key.
_REPORT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {".json": "application/json", ".jsonl": "application/x-ndjson", ".html": "text/html; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class ComparisonFolder:
    """A folder of `ape compare`, described by its manifest."""

    name: str
    data: str
    systems: tuple[str, ...]
    finished: str
    """When it finished, as ISO 8601 in UTC; empty while it runs."""
    has_report: bool
    files: tuple[str, ...]


def add_comparison_routes(app: FastAPI, folder: Path, *, auth: Any) -> None:
    """Add GET /compare, /compare/{name} and the files of a comparison."""

    @app.get("/compare", include_in_schema=False, dependencies=[auth])
    async def comparisons(request: Request) -> Response:
        listed = await asyncio.to_thread(list_comparisons, folder)
        return page_response(request, "comparisons.html", nav="evaluation", comparisons=listed, folder=folder)

    @app.get("/compare/{name}", include_in_schema=False, dependencies=[auth])
    async def report(name: str) -> Response:
        return await asyncio.to_thread(_file, folder, name, REPORT)

    @app.get("/compare/{name}/{file}", include_in_schema=False, dependencies=[auth])
    async def one(name: str, file: str) -> Response:
        if file not in FILES:
            raise HTTPException(404, f"A comparison has the files {', '.join(FILES)}.")
        return await asyncio.to_thread(_file, folder, name, file)


def list_comparisons(folder: Path) -> list[ComparisonFolder]:
    """List the comparisons in a folder, newest first; anything else in it is ignored."""
    runs = [run for run in _folders(folder) if (run / MANIFEST).is_file()]
    runs.sort(key=lambda run: (run / MANIFEST).stat().st_mtime, reverse=True)
    return [found for run in runs if (found := _comparison(run))]


def _folders(folder: Path) -> list[Path]:
    try:
        return [one for one in sorted(folder.iterdir()) if one.is_dir()]
    except OSError:
        return []


def _comparison(run: Path) -> ComparisonFolder | None:
    try:
        manifest: Any = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
        data, systems = manifest["data"].get("name"), manifest.get("systems", [])
        names = tuple(str(one["name"]) for one in systems)
        done = bool(manifest.get("complete"))
        at = datetime.fromtimestamp((run / MANIFEST).stat().st_mtime, UTC)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    files = tuple(name for name in FILES if (run / name).is_file())
    finished = at.isoformat(timespec="seconds") if done else ""
    return ComparisonFolder(run.name, str(data or ""), names, finished, (run / REPORT).is_file(), files)


def _file(folder: Path, name: str, file: str) -> Response:
    """Respond with a file of a listed comparison; looking the name up in the list keeps it inside the folder."""
    run = next((one for one in _folders(folder) if one.name == name and (one / MANIFEST).is_file()), None)
    if run is None or not (run / file).is_file():
        raise HTTPException(404, "There is no such comparison here, or it is not finished.")
    kind = _TYPES[Path(file).suffix]
    return FileResponse(
        run / file, media_type=kind, headers=PAGE_HEADERS | {"Content-Security-Policy": _REPORT_SECURITY_POLICY}
    )
