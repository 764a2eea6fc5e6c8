"""No fault of the model server loses the MT: every case over real HTTP.

`python -m tests.serve.test_faults` prints the table.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ape.engines.client import OpenAIEngine
from ape.engines.retry import RetryPolicy
from ape.guards import GUARDS
from ape.settings import Settings
from serve.app import create_app
from tests.scripted import Fail, Hang, Move, Raw, Say, ScriptedServer, Stall, running, scripted_server, translation_in
from tests.serve.fault_cases import CASES, FERRY, GOOD_DRAFTS, LEDGER, MAX_REQUESTS, PIPE, SOUP, Case, Passage

FAST_RETRY = RetryPolicy(attempts=MAX_REQUESTS, first_wait=0.01, longest_wait=0.02, total_seconds=10)


@contextmanager
def fast_retry_service(url: str, *, timeout_seconds: float = 1.0) -> Iterator[httpx2.Client]:
    """Run a service that retries the engine at `url` almost without delay, and yield a client."""
    engine = OpenAIEngine(url, api_key="none", timeout_seconds=timeout_seconds, retry=FAST_RETRY)
    settings = Settings(engine="url", url=url, cache=Path())
    with running(create_app(settings, engine)) as address, httpx2.Client(base_url=address, timeout=300) as client:
        yield client


@pytest.fixture(scope="module")
def service_client(engine_server: ScriptedServer) -> Iterator[httpx2.Client]:
    """With a long timeout, so that a busy machine causes no retry."""
    with fast_retry_service(engine_server.url, timeout_seconds=60.0) as client:
        yield client


@pytest.fixture(scope="module")
def impatient_client(engine_server: ScriptedServer) -> Iterator[httpx2.Client]:
    """With a short timeout, for engines that hang."""
    with fast_retry_service(engine_server.url) as client:
        yield client


def request_body(passage: Passage, options: Mapping[str, object] | None = None) -> dict[str, object]:
    source_language, target_language = passage.languages.split("-")
    return {
        "source": passage.source,
        "mt": passage.mt,
        "source_language": source_language,
        "target_language": target_language,
        **(options or {}),
    }


def ask(case: Case, client: httpx2.Client, engine: ScriptedServer) -> httpx2.Response:
    engine.play(*case.moves)
    return client.post("/v1/post-edit", json=request_body(case.passage, case.options))


def faults(case: Case, response: httpx2.Response, engine: ScriptedServer) -> Iterator[str]:
    """Yield the differences from the expected result."""
    answer = response.json()
    if response.status_code != case.status:
        yield f"status {response.status_code}, not {case.status}: {answer}"
        return
    if len(engine.requests) != case.requests:
        yield f"the engine got {len(engine.requests)} requests, not {case.requests}"
    if case.status != 200:
        yield from _faults_of_problem(case, response)
    else:
        yield from _faults_of_result(case, answer)


def _faults_of_problem(case: Case, response: httpx2.Response) -> Iterator[str]:
    problem = response.json()
    if response.headers["content-type"] != "application/problem+json":
        yield f"content type {response.headers['content-type']}"
    if missing := {"type", "title", "status", "detail"} - problem.keys():
        yield f"the problem has no {missing}"
    if problem.get("mt") != case.passage.mt:
        yield f"the MT did not come back unchanged: {problem.get('mt')!r}"
    if case.status == 503 and int(response.headers.get("retry-after", 0)) < 1:
        yield "no Retry-After"


def _faults_of_result(case: Case, answer: dict[str, Any]) -> Iterator[str]:
    refusals = [finding for finding in answer["findings"] if finding["severity"] == "reject"]
    messages = [f"{finding['guard']}: {finding['message']}" for finding in refusals]
    if answer["decision"] != case.decision:
        yield f"{answer['decision']}, not {case.decision}: {messages or repr(answer['post_edit'])}"
    elif answer["post_edit"] != case.post_edit:
        yield f"the post-edit is {answer['post_edit']!r}"
    elif _applied(case.passage.mt, answer["edits"]) != answer["post_edit"]:
        yield f"the edits do not lead from the MT to the post-edit: {answer['edits']}"
    if case.decision != "edited" and (answer["edits"] or answer["edit_rate"]):
        yield f"nothing was edited, but there are edits: {answer['edits']}"
    if missing := set(case.guards) - {finding["guard"] for finding in refusals}:
        yield f"not rejected by {', '.join(sorted(missing))}, only by {messages}"
    attempts = {finding["attempt"] for finding in refusals}
    if case.decision == "rejected" and attempts != set(range(1, case.requests + 1)):
        yield f"refusals of the attempts {attempts} only"
    if case.decision != "rejected" and case.requests in attempts:
        yield f"the accepted draft is rejected: {messages}"


def _applied(mt: str, edits: list[dict[str, Any]]) -> str:
    for edit in reversed(edits):
        start, end = edit["mt_span"]
        assert mt[start:end] == edit["before"]
        mt = mt[:start] + edit["after"] + mt[end:]
    return mt


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.claim)
def test_the_case_holds(
    case: Case, service_client: httpx2.Client, impatient_client: httpx2.Client, scripted: ScriptedServer
) -> None:
    hangs = any(isinstance(move, Hang | Stall) for move in case.moves)
    client = impatient_client if hangs else service_client
    assert list(faults(case, ask(case, client, scripted), scripted)) == []


def test_there_are_cases_enough_and_no_two_make_the_same_claim() -> None:
    assert len(CASES) >= 90
    assert len({case.claim for case in CASES}) == len(CASES)


# A passage that is posted alone has no cast: tests/ape/guards/test_cast.py.
@pytest.mark.parametrize("guard", [name for name in GUARDS if name != "cast"])
def test_every_guard_is_seen_to_refuse_and_to_let_pass(guard: str) -> None:
    assert any(guard in case.guards for case in CASES if case.decision == "rejected")
    assert any(guard == case.tempted_guard for case in GOOD_DRAFTS)


def test_a_second_draft_is_drawn_with_another_seed_and_warmer(
    service_client: httpx2.Client, scripted: ScriptedServer
) -> None:
    scripted.play(Say(""), Say(PIPE.good))
    answer = service_client.post("/v1/post-edit", json=request_body(PIPE, {"seed": 41})).json()
    first, second = scripted.requests
    assert (first["seed"], second["seed"]) == (41, 42)
    assert first["temperature"] == 0
    assert second["temperature"] > 0
    assert second["top_p"] > first["top_p"]
    assert first["messages"] == second["messages"]
    assert [(finding["guard"], finding["attempt"]) for finding in answer["findings"]] == [("empty", 1)]
    usage = answer["usage"]  # 100 and 20 for each draft
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (200, 40)


def test_a_try_that_fails_is_made_again_with_the_same_seed(
    service_client: httpx2.Client, scripted: ScriptedServer
) -> None:
    scripted.play(Fail(500), Say(PIPE.good))
    service_client.post("/v1/post-edit", json=request_body(PIPE))
    first, second = scripted.requests
    assert first == second


async def test_a_run_away_is_stopped_and_the_engine_is_told(
    service_client: httpx2.Client, scripted: ScriptedServer, until: Callable[..., Any]
) -> None:
    scripted.play(Say("and on and " * 10_000))
    answer = service_client.post("/v1/post-edit", json=request_body(PIPE, {"max_attempts": 1})).json()
    assert answer["post_edit"] == PIPE.mt
    assert answer["usage"]["completion_tokens"] < 100
    await until(lambda: scripted.active == 0)
    assert scripted.hung_up == 1


async def test_an_engine_that_hangs_is_hung_up_on(
    impatient_client: httpx2.Client, scripted: ScriptedServer, until: Callable[..., Any]
) -> None:
    scripted.play(Hang(), Say(SOUP.good))
    impatient_client.post("/v1/post-edit", json=request_body(SOUP))
    await until(lambda: scripted.hung_up == 1)


@pytest.mark.parametrize(
    "fault", [Fail(400), Fail(503, (("retry-after", "0"),)), Raw("data: 7\n\n")], ids=["400", "503", "nonsense"]
)
def test_a_list_goes_on_where_the_engine_fails_on_one_passage(
    service_client: httpx2.Client, scripted: ScriptedServer, fault: Move
) -> None:
    def script(request: dict[str, Any], turn: int) -> Move:
        good = {passage.mt: passage.good for passage in (PIPE, FERRY)}
        return Say(good[mt]) if (mt := translation_in(request)) in good else fault

    scripted.script = script
    response = service_client.post("/v1/post-edit", json=[request_body(passage) for passage in (PIPE, LEDGER, FERRY)])
    assert response.status_code == 200
    first, second, third = response.json()
    assert (first["post_edit"], third["post_edit"]) == (PIPE.good, FERRY.good)
    assert second["status"] in (502, 503)
    assert second["mt"] == LEDGER.mt


@pytest.fixture(scope="module")
def other_engine() -> Iterator[ScriptedServer]:
    """A separate scripted server, whose model listing can fail."""
    with scripted_server() as server:
        yield server


@pytest.mark.parametrize(
    ("listing", "status"),
    [
        (Fail(500), 502),
        (Fail(503, (("retry-after", "0"),)), 503),
        (Fail(401), 502),
        (Fail(404), 502),
        (Hang(), 504),
        (Raw("<html>Sign in</html>", "text/html"), 502),
        (Raw("{not json", "application/json"), 502),
        (Raw("null", "application/json"), 502),
        (Raw('{"data": []}', "application/json"), 503),
        (Raw('{"data": [null]}', "application/json"), 502),
        (Raw('{"data": [{}]}', "application/json"), 502),
    ],
    ids=lambda value: getattr(value, "body", None) if isinstance(value, Raw) else str(value),
)
def test_an_engine_that_cannot_tell_its_models_is_a_problem_with_the_mt(
    other_engine: ScriptedServer, listing: Fail | Raw | Hang, status: int
) -> None:
    other_engine.listing = listing
    with fast_retry_service(other_engine.url) as client:
        response = client.post("/v1/post-edit", json=request_body(PIPE))
        assert (response.status_code, response.json().get("mt")) == (status, PIPE.mt)
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == status
        other_engine.listing = None
        assert client.get("/readyz").status_code == 200
        assert client.post("/v1/post-edit", json=request_body(PIPE)).json()["decision"] == "unchanged"


def test_an_engine_that_is_not_there_is_a_problem_with_the_mt() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with fast_retry_service(f"http://127.0.0.1:{port}/v1") as client:
        response = client.post("/v1/post-edit", json=request_body(PIPE))
    assert response.status_code == 503
    assert response.json()["mt"] == PIPE.mt
    assert int(response.headers["retry-after"]) >= 1


def test_a_parameter_the_engine_does_not_know_is_left_out(other_engine: ScriptedServer) -> None:
    complaint = '{"error": {"message": "no seed here", "code": "unsupported_parameter", "param": "seed"}}'
    other_engine.listing = None
    other_engine.play(Fail(400, body=complaint), Say(PIPE.good))
    with fast_retry_service(other_engine.url) as client:
        assert client.post("/v1/post-edit", json=request_body(PIPE)).json()["post_edit"] == PIPE.good
    assert [("seed" in request) for request in other_engine.requests] == [True, False]


def test_a_passage_beyond_the_engines_window_is_the_callers_to_split(
    service_client: httpx2.Client, scripted: ScriptedServer
) -> None:
    error = {"message": "too long", "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096}
    scripted.play(Fail(400, body=httpx2.Response(200, json={"error": error}).text))
    response = service_client.post("/v1/post-edit", json=request_body(PIPE))
    assert response.status_code == 413
    assert (response.json()["actual"], response.json()["limit"]) == (9000, 4096)


def main() -> None:
    """Print every case with its result."""
    with scripted_server() as engine, fast_retry_service(engine.url) as client:
        for case in CASES:
            response = ask(case, client, engine)
            wrong = list(faults(case, response, engine))
            answer = response.json()
            outcome = answer.get("decision") or f"{response.status_code} {answer.get('title')}"
            guards = dict.fromkeys(f["guard"] for f in answer.get("findings", ()) if f["severity"] == "reject")
            line = (case.passage.languages, case.claim, outcome, " ".join(guards), "; ".join(wrong) or "as expected")
            print("{:6} {:60.60} {:32.32} {:32.32} {}".format(*line))


if __name__ == "__main__":
    main()
