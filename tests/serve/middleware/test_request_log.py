"""Each request writes one log line, under an id that is passed on everywhere."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from starlette.types import Message, Receive, Scope, Send

from ape.errors import Busy, EngineError, EngineUnavailable, InputError, TooLong
from ape.passage.request_id import request_id
from serve.middleware.problems import NotAllowed, Unreadable, problem_from_error
from serve.middleware.rate_limit import TooMany
from serve.middleware.request_log import RequestLog, log_fields, log_problem, log_result, problem_name
from tests.serve.small_app import EDITED, KEY, MESSAGE, TEXT, SmallApp, run_small_app

Until = Callable[..., Awaitable[None]]
HASH = hashlib.sha256(KEY.encode()).hexdigest()


@pytest.fixture(scope="module")
def shared() -> Iterator[SmallApp]:
    with run_small_app() as app:
        yield app


@pytest.fixture
async def app(shared: SmallApp, until: Until) -> SmallApp:
    """The shared application, after it has logged the previous test's last request."""
    await until(lambda: shared.metrics.registry.get_sample_value("ape_requests_in_progress") == 0)
    shared.client.get("/v1/jobs/7", headers={"X-Request-Id": "last"})
    await until(lambda: any('"last"' in line for line in shared.lines))
    shared.lines.clear()
    shared.ids.clear()
    return shared


async def only_line(app: SmallApp, until: Until) -> dict[str, Any]:
    """Return the only log line, which is written just after the response."""
    await until(lambda: app.lines)
    # After another request, a duplicate line of the first would have been written.
    app.client.get("/healthz")
    (line,) = app.lines
    assert "\n" not in line
    fields: dict[str, Any] = json.loads(line)
    return fields


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/jobs/7", 200),
        ("/stream", 200),
        ("/nowhere", 404),
        ("/v1/post-edit", 405),
        ("/busy", 429),
        ("/stream/full", 429),
        ("/broken", 500),
    ],
)
async def test_a_request_is_one_line_with_the_status_it_was_answered_with(
    path: str, status: int, app: SmallApp, until: Until
) -> None:
    response = app.client.get(path)
    line = await only_line(app, until)
    assert response.status_code == line["status"] == status
    assert response.headers["x-request-id"] == line["id"]
    assert (line["method"], line["path"], line["client"]) == ("GET", path, "127.0.0.1")
    assert 0 <= line["seconds"] < 30


async def test_the_time_is_now_and_says_its_zone(app: SmallApp, until: Until) -> None:
    app.client.get("/v1/jobs/7")
    logged = datetime.fromisoformat((await only_line(app, until))["time"])
    assert logged.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - logged) < timedelta(seconds=30)


async def test_a_client_that_hangs_up_before_the_answer_is_499(app: SmallApp, until: Until) -> None:
    with app.connect("/forever"):
        await until(lambda: app.queue.admitted == 1)
        assert app.lines == []
    assert (await only_line(app, until))["status"] == 499
    assert app.queue.admitted == 0


async def test_a_client_that_hangs_up_in_a_stream_is_499(app: SmallApp, until: Until) -> None:
    with app.connect("/stream/forever") as line:
        assert line.recv(8).startswith(b"HTTP/1.1")
        assert app.lines == []
    assert (await only_line(app, until))["status"] == 499
    assert app.queue.admitted == 0


async def test_a_stream_that_breaks_off_by_our_fault_is_500(app: SmallApp, until: Until) -> None:
    with app.client.stream("GET", "/half") as response, pytest.raises(httpx2.RemoteProtocolError):
        response.read()
    assert response.status_code == 200
    assert (await only_line(app, until))["status"] == 500


async def test_a_body_that_never_comes_to_its_end_is_499(app: SmallApp, until: Until) -> None:
    with app.connect("/v1/post-edit", method="POST", header="Content-Length: 100"):
        await until(lambda: app.metrics.registry.get_sample_value("ape_requests_in_progress") == 1)
    assert (await only_line(app, until))["status"] == 499


async def test_a_line_tells_what_became_of_the_passages_and_nothing_of_their_text(app: SmallApp, until: Until) -> None:
    response = app.client.post("/v1/post-edit", json={"mt": TEXT}, headers={"Authorization": f"Bearer {KEY}"})
    assert response.status_code == 200
    line = await only_line(app, until)
    assert line["passages"] == 5
    assert line["decisions"] == {"edited": 2, "unchanged": 1}
    assert line["models"] == {"par3": 2, "base": 1}
    assert line["findings"] == {"length": 2, "names": 2}
    assert line["problems"] == {"engine-timeout": 1, "unexpected": 1}
    assert (line["prompt_tokens"], line["completion_tokens"]) == (250, 50)
    assert line["key"] == HASH[:8]
    written = app.lines[0]
    assert not any(secret in written for secret in (KEY, TEXT, MESSAGE, HASH))


async def test_an_unexpected_error_leaves_no_text_in_the_line(app: SmallApp, until: Until) -> None:
    app.client.get("/broken")
    await only_line(app, until)
    assert TEXT not in app.lines[0]


def test_the_connection_outlives_an_unexpected_error(app: SmallApp) -> None:
    for _ in range(20):
        assert app.client.get("/broken").status_code == 500
        assert app.client.get("/v1/jobs/7").status_code == 200


async def test_a_request_does_not_inherit_what_the_one_before_it_told(app: SmallApp, until: Until) -> None:
    app.client.post("/v1/post-edit", json={})
    app.client.get("/v1/jobs/7")
    await until(lambda: len(app.lines) == 2)
    assert "passages" in json.loads(app.lines[0])
    assert set(json.loads(app.lines[1])) == {
        "time", "id", "method", "path", "status", "seconds", "key", "client"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("header", "key"),
    [(None, None), ("Basic YTpi", None), ("Bearer", None), (f"bearer  {KEY}", HASH[:8]), (f"BEARER {KEY}", HASH[:8])],
)
async def test_of_a_key_there_are_eight_digits_of_its_hash(
    header: str | None, key: str | None, app: SmallApp, until: Until
) -> None:
    app.client.get("/v1/jobs/7", headers={"Authorization": header} if header else {})
    assert (await only_line(app, until))["key"] == key


@pytest.mark.parametrize("sane", ["a", "0af7651916cd43dd-8448.eb_211", "x" * 128])
async def test_a_sane_id_of_the_caller_is_kept_everywhere(sane: str, app: SmallApp, until: Until) -> None:
    response = app.client.post("/v1/post-edit", json={}, headers={"X-Request-Id": sane})
    assert response.headers.get_list("x-request-id") == [sane]
    assert (await only_line(app, until))["id"] == sane
    assert app.ids == [sane] * 5  # as the tasks of the passages saw it


@pytest.mark.parametrize("odd", ["", "x" * 129, "a b", "a\tb", 'a"}', "<script>", "né", "%0d%0a", "a,b"])
async def test_any_other_id_is_replaced(odd: str, app: SmallApp, until: Until) -> None:
    response = app.client.get("/v1/jobs/7", headers={b"X-Request-Id": odd.encode()})
    (given,) = response.headers.get_list("x-request-id")
    assert re.fullmatch("[0-9a-f]{32}", given)
    assert response.text == (await only_line(app, until))["id"] == given


def test_requests_at_once_keep_their_ids_apart(app: SmallApp) -> None:
    async def ask() -> list[httpx2.Response]:
        async with httpx2.AsyncClient(base_url=app.client.base_url, timeout=300) as client:
            requests = (client.get("/v1/jobs/7", headers={"X-Request-Id": f"n{n}"}) for n in range(50))
            return await asyncio.gather(*requests)

    assert [answer.text for answer in asyncio.run(ask())] == [f"n{n}" for n in range(50)]


async def test_no_path_can_write_a_line_of_its_own(app: SmallApp, until: Until) -> None:
    app.client.get("/v1/jobs/a%0A%7B%22status%22:200%7D%E2%80%A8?secret=1")
    assert (await only_line(app, until))["path"] == '/v1/jobs/a\n{"status":200}\u2028'
    assert app.lines[0].isascii()
    assert "secret" not in app.lines[0]


async def test_a_long_path_is_cut(app: SmallApp, until: Until) -> None:
    app.client.get("/" + "x" * 5000)
    assert len((await only_line(app, until))["path"]) == 200


def test_probes_are_logged_to_debug_only(app: SmallApp) -> None:
    with run_small_app(debug=True) as talkative:
        for one in (app, talkative):
            assert one.client.get("/healthz").headers["x-request-id"]
            assert one.client.get("/metrics").status_code == 200
            one.client.get("/v1/jobs/7")
    assert {json.loads(line)["path"] for line in app.lines} <= {"/v1/jobs/7"}
    assert [json.loads(line)["path"] for line in talkative.lines] == ["/healthz", "/metrics", "/v1/jobs/7"]


SCOPE: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": [], "client": None}


async def nothing() -> Message:
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


async def drop(message: Message) -> None:
    pass


async def test_work_that_is_cancelled_when_the_service_stops_is_503() -> None:
    lines: list[str] = []
    begun = asyncio.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(RequestLog(endless, lines.append)(dict(SCOPE), nothing, drop))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (line,) = lines
    assert json.loads(line)["status"] == 503


async def test_an_application_that_forgets_to_answer_is_500() -> None:
    lines: list[str] = []

    async def forgetful(scope: Scope, receive: Receive, send: Send) -> None:
        pass

    await RequestLog(forgetful, lines.append)(dict(SCOPE), nothing, drop)
    assert json.loads(lines[0])["status"] == 500


async def test_a_log_that_can_not_be_written_fails_no_request() -> None:
    sent: list[Message] = []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def keep(message: Message) -> None:
        sent.append(message)

    def broken(line: str) -> None:
        raise BrokenPipeError

    await RequestLog(answer, broken)(dict(SCOPE), nothing, keep)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert request_id.get() == ""


async def test_what_is_no_http_passes_through() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    await RequestLog(app, seen.append)({"type": "lifespan"}, nothing, drop)
    assert seen == ["lifespan"]


def test_outside_of_a_request_there_is_nothing_to_note() -> None:
    log_fields(passages=1)
    log_result(EDITED)
    log_problem(ValueError())


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (InputError("message"), "input"),
        (TooLong("message"), "too-long"),
        (Busy("message", retry_after=1), "busy"),
        (TooMany("message", retry_after=1), "too-many"),
        (EngineError("message"), "engine"),
        (EngineUnavailable("message"), "engine-unavailable"),
        (NotAllowed("message", status=401), "not-allowed"),
        (Unreadable("message"), "unreadable"),
        (ValueError("message"), "unexpected"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_log_and_the_answer_name_a_problem_alike(error: Exception, name: str) -> None:
    assert problem_name(error) == name
    assert problem_from_error(error).type == f"urn:ape:problem:{name}"
