"""A provider on loopback: OpenAI's files and fine-tuning API over real HTTP, with scripted failures."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.scripted import running

KEY = "sk-ours-4711"
RESULTS = b"step,train_loss,valid_loss\n1,2.5,\n2,1.5,1.75\n3,1.25,\n"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with this status, without effect."""

    status: int
    message: str = "set to fail"
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """Break the connection in the middle of the answer; `done`: after the operation."""

    done: bool = False


@dataclass(frozen=True, slots=True)
class Nonsense:
    """Answer with this body."""

    body: str


Fault = Fail | Cut | Nonsense


@dataclass(frozen=True, slots=True)
class Stage:
    """Status of a job at a request, its new events, and other fields."""

    status: str
    events: tuple[Json, ...] = ()
    also: tuple[tuple[str, Any], ...] = ()


def said(message: str) -> Json:
    """A message event."""
    return {"message": message, "type": "message", "level": "info", "data": {}}


def step(number: int, total: int) -> Json:
    """A metrics event."""
    data = {"step": number, "total_steps": total, "train_loss": 3.0 / number}
    return {
        "message": f"Step {number}/{total}: training loss={3.0 / number:.2f}",
        "type": "metrics",
        "level": "info",
        "data": data,
    }


SUCCESS = (
    Stage("validating_files", (said("Validating training file"),)),
    Stage("running", (said("Fine-tuning job started"), step(1, 3), step(2, 3))),
    Stage(
        "succeeded",
        (step(3, 3), said("The job has successfully completed")),
        (("fine_tuned_model", "ft:tiny:ours:ape:1"), ("trained_tokens", 1234), ("result_files", ["file-results"])),
    ),
)


@dataclass
class Hosting:
    """Records requests; each request of an operation uses the next of `faults[operation]`."""

    plan: tuple[Stage, ...] = SUCCESS
    page: int = 100
    filters: bool = True
    faults: defaultdict[str, list[Fault]] = field(default_factory=lambda: defaultdict(list))
    files: dict[str, bytes] = field(default_factory=lambda: {"file-results": base64.b64encode(RESULTS)})
    jobs: dict[str, Json] = field(default_factory=dict)
    events: defaultdict[str, list[Json]] = field(default_factory=lambda: defaultdict(list))
    looks: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    calls: list[str] = field(default_factory=list)
    url: str = ""

    async def upload(self, request: Request) -> Json:
        new = f"file-{len(self.files)}"
        async with request.form() as form:
            file = form["file"]
            assert isinstance(file, UploadFile)
            assert form["purpose"] == "fine-tune"
            self.files[new] = await file.read()
            return _file(new, str(file.filename), len(self.files[new]))

    async def file(self, request: Request) -> Json | None:
        file_id = request.path_params["id"]
        return _file(file_id, "x.jsonl", len(self.files[file_id])) if file_id in self.files else None

    async def create(self, request: Request) -> Json:
        order = await request.json()
        new = f"ftjob-{len(self.jobs) + 1}"
        self.jobs[new] = {
            "id": new,
            "object": "fine_tuning.job",
            "created_at": len(self.jobs),
            "status": "validating_files",
            "organization_id": "org-ours",
            "result_files": [],
            "hyperparameters": order["method"]["supervised"]["hyperparameters"],
            "fine_tuned_model": None,
            "trained_tokens": None,
            "error": None,
            **order,
        }
        return self.jobs[new]

    async def list_jobs(self, request: Request) -> Json:
        wanted = {name[9:-1]: value for name, value in request.query_params.items() if name.startswith("metadata[")}
        jobs = list(self.jobs.values())[::-1]
        if self.filters:
            jobs = [job for job in jobs if wanted.items() <= job["metadata"].items()]
        return self._page(jobs, request)

    async def job(self, request: Request) -> Json | None:
        """Return the job; each request advances it by a stage."""
        job_id = request.path_params["id"]
        if job_id not in self.jobs:
            return None
        job, look = self.jobs[job_id], self.looks[job_id]
        if look < len(self.plan) and job["status"] != "cancelled":
            stage = self.plan[look]
            self.looks[job_id] += 1
            job |= {"status": stage.status, **dict(stage.also)}
            for event in stage.events:
                number = len(self.events[job_id])
                base = {"id": f"ev-{number}", "object": "fine_tuning.job.event", "created_at": number}
                self.events[job_id].append(base | event)
        return job

    async def list_events(self, request: Request) -> Json:
        return self._page(self.events[request.path_params["id"]][::-1], request)

    async def cancel(self, request: Request) -> Json | None:
        job = self.jobs.get(request.path_params["id"])
        return None if job is None else job | {"status": "cancelled"}

    async def content(self, request: Request) -> Response:
        return Response(self.files[request.path_params["id"]], media_type="application/octet-stream")

    def _page(self, entries: list[Json], request: Request) -> Json:
        after = request.query_params.get("after")
        ids = [entry["id"] for entry in entries]
        begin = ids.index(after) + 1 if after else 0
        end = begin + min(self.page, int(request.query_params["limit"]))
        return {"object": "list", "data": entries[begin:end], "has_more": end < len(entries)}

    def answering(self, name: str, work: Callable[[Request], Awaitable[Any]]) -> Callable[..., Any]:
        """Wrap an operation: check the key, and apply the next fault."""

        async def answer(request: Request) -> Response:
            self.calls.append(name)
            key = request.headers.get("authorization", "").removeprefix("Bearer ")
            if key != KEY:
                return _refused(401, f"Incorrect API key provided: {key}.", "invalid_api_key")
            fault = self.faults[name].pop(0) if self.faults[name] else None
            match fault:
                case Fail(status, message, code):
                    return _refused(status, message, code)
                case Nonsense(body):
                    return Response(body, media_type="application/json")
                case Cut(done):
                    if done:
                        await work(request)
                    return StreamingResponse(_broken(), media_type="application/json")
            content = await work(request)
            if content is None:
                return _refused(404, "No such thing.", "not_found")
            return content if isinstance(content, Response) else JSONResponse(content)

        return answer


def _file(id: str, name: str, size: int) -> Json:
    return {
        "id": id,
        "object": "file",
        "bytes": size,
        "created_at": 0,
        "filename": name,
        "purpose": "fine-tune",
        "status": "processed",
    }


def _refused(status: int, message: str, code: str | None) -> Response:
    error = {"message": message, "type": "invalid_request_error", "code": code, "param": None}
    return JSONResponse({"error": error}, status, {"Retry-After": "0"})


async def _broken() -> AsyncIterator[str]:
    yield json.dumps({"id": "x"})[:3]
    raise ConnectionAbortedError


@contextmanager
def hosting() -> Iterator[Hosting]:
    """Run a new provider."""
    server = Hosting()

    def route(path: str, name: str, method: str = "GET") -> Route:
        return Route(path, server.answering(name, getattr(server, name)), methods=[method])

    app = Starlette(
        routes=[
            route("/v1/files", "upload", "POST"),
            route("/v1/files/{id}", "file"),
            route("/v1/files/{id}/content", "content"),
            route("/v1/fine_tuning/jobs", "create", "POST"),
            route("/v1/fine_tuning/jobs", "list_jobs"),
            route("/v1/fine_tuning/jobs/{id}", "job"),
            route("/v1/fine_tuning/jobs/{id}/events", "list_events"),
            route("/v1/fine_tuning/jobs/{id}/cancel", "cancel", "POST"),
        ]
    )
    with running(app) as address:
        server.url = f"{address}/v1"
        yield server
