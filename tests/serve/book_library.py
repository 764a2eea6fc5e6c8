"""Small invented books, and a service to upload them to."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI

from ape.engines.factory import open_engine
from ape.settings import Settings
from serve.app import create_app
from tests.scripted import running

_WHO = ("Claire", "Bernard", "Odile", "Gustave", "Irène", "Lucien", "Mathilde")
_WHAT = (
    ("posa son sac sur la chaise", "posed his bag on the chair"),
    ("ouvrit la lettre sans un mot", "opened the letter without a word"),
    ("regarda longtemps la rue déserte", "watched a long time the deserted street"),
    ("referma doucement la porte du jardin", "closed again softly the door of the garden"),
    ("compta les pièces une à une", "counted the coins one to one"),
)
_WHEN = (
    ("avant la fin de l'orage", "before the end of the storm"),
    ("pendant que la maison dormait", "while the house was sleeping"),
    ("comme chaque dimanche d'hiver", "like each Sunday of winter"),
)


def sentences(count: int) -> list[tuple[str, str]]:
    """Return `count` distinct paragraphs with their machine translations."""
    pairs = []
    for number in range(count):
        who = _WHO[number % 7]
        (act, acted), (when, then) = _WHAT[number % 5], _WHEN[number % 3]
        pairs.append(
            (
                f"{who} {act} {when}, et personne ne demanda rien au numéro {number}.",
                f"{who} {acted} {then}, and nobody asked anything at the number {number}.",
            )
        )
    return pairs


def text_pair(count: int = 12) -> tuple[bytes, bytes]:
    """Return a source and its MT as plain text."""
    pairs = sentences(count)
    return tuple("\n\n".join(side).encode() + b"\n" for side in zip(*pairs, strict=True))  # type: ignore[return-value]


def bilingual(count: int = 12) -> bytes:
    """Return source and MT as JSON lines."""
    lines = [
        json.dumps({"id": f"p{number}", "source": source, "mt": mt}, ensure_ascii=False)
        for number, (source, mt) in enumerate(sentences(count))
    ]
    return "\n".join(lines).encode() + b"\n"


def files(count: int = 12) -> dict[str, tuple[str, bytes]]:
    """Return the file parts of an upload."""
    source, mt = text_pair(count)
    return {"source": ("Nuit.txt", source), "mt": ("Night.txt", mt)}


LANGUAGES = {"source_language": "fr", "target_language": "en"}


def begin(client: httpx2.Client, count: int = 12, **fields: str) -> dict[str, Any]:
    """Upload a book and return its job."""
    response = client.post("/v1/books", files=files(count), data={**LANGUAGES, **fields})
    assert response.status_code == 201, response.text
    job: dict[str, Any] = response.json()
    assert response.headers["location"] == f"/v1/jobs/{job['id']}"
    return job


def look(client: httpx2.Client, id: str) -> dict[str, Any]:
    """Return the current state of the job."""
    response = client.get(f"/v1/jobs/{id}")
    assert response.status_code == 200, response.text
    job: dict[str, Any] = response.json()
    return job


def wait_for(
    client: httpx2.Client, id: str, condition: Callable[[dict[str, Any]], object], *, seconds: float = 300
) -> dict[str, Any]:
    """Poll the job until the condition is met."""
    deadline = time.monotonic() + seconds
    while not condition(job := look(client, id)):
        assert time.monotonic() < deadline, (job, _running_jobs(client))
        time.sleep(0.02)
    return job


def _running_jobs(client: httpx2.Client) -> list[dict[str, Any]]:
    jobs = client.get("/v1/jobs", params={"limit": 100}).json()["jobs"]
    return [job for job in jobs if job["state"] == "running"]


def wait_until_done(client: httpx2.Client, id: str) -> dict[str, Any]:
    """Wait for the job to end, and check that it is done."""
    job = wait_for(client, id, lambda job: job["state"] not in ("running", "paused"))
    assert job["state"] == "done", job
    return job


def settings_in(settings: Settings, folder: Path, **changes: Any) -> Settings:
    """Return the settings with jobs and uploads in `folder`."""
    paths = {"jobs": str(folder / "jobs.sqlite"), "uploads": folder / "uploads", "drain_seconds": 2.0}
    return Settings.model_validate(settings.model_dump() | paths | changes)


@contextmanager
def serving(app: FastAPI, *, headers: Mapping[str, str] | None = None) -> Iterator[httpx2.Client]:
    """Run the application and yield a client."""
    with running(app) as address, httpx2.Client(base_url=address, timeout=300, headers=headers) as client:
        yield client


@contextmanager
def service(settings: Settings, *, headers: Mapping[str, str] | None = None) -> Iterator[httpx2.Client]:
    """Run a separate service and yield a client."""
    with serving(create_app(settings, open_engine(settings)), headers=headers) as client:
        yield client


def uploaded_files(settings: Settings) -> list[str]:
    """List the uploads folder without that of batches. `rglob` would fail if it changes meanwhile."""
    folder = settings.uploads_folder
    found = (Path(place, name) for place, *names in os.walk(folder) for name in (*names[0], *names[1]))
    return sorted(str(path.relative_to(folder)) for path in found if path.name != "batches")
