"""Jobs in the service: run, stream, pause, restart, download, delete, and access by owner."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from ape.engines.factory import open_engine
from ape.errors import InputError, StoreError
from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.store import JobStore
from ape.settings import Settings
from serve.app import create_app
from serve.middleware.problems import problem_from_error, public_message
from serve.scheduler.worker_threads import WorkerThreads
from tests.scripted import Fail, Hang, Move, Say, ScriptedServer, echo, translation_in
from tests.serve.book_library import (
    begin,
    look,
    sentences,
    service,
    serving,
    settings_in,
    uploaded_files,
    wait_for,
    wait_until_done,
)

NAME = "Nuit d'été / 夏.txt"
MTS = [mt for _, mt in sentences(200)]


@pytest.fixture
def settings(service_settings: Settings, tmp_path: Path) -> Settings:
    """Settings of a separate service for each test."""
    return settings_in(service_settings, tmp_path, drain_seconds=0.2)


@pytest.fixture(scope="module")
def shared(service_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings_in(service_settings, tmp_path_factory.mktemp("service"), drain_seconds=0.2)


@pytest.fixture(scope="module")
def app(shared: Settings) -> FastAPI:
    return app_of(shared)


@pytest.fixture(scope="module")
def shared_client(app: FastAPI) -> Iterator[httpx2.Client]:
    with serving(app) as client:
        yield client


@pytest.fixture
def client(shared_client: httpx2.Client) -> Iterator[httpx2.Client]:
    """A client of the shared service. Jobs of the test are deleted at its end, except the finished sample."""
    yield shared_client
    for job in shared_client.get("/v1/jobs", params={"limit": 100}).json()["jobs"]:
        if job["name"] != NAME:
            shared_client.delete(f"/v1/jobs/{job['id']}")


@pytest.fixture
def mending(scripted: ScriptedServer) -> ScriptedServer:
    """A model that makes one edit."""
    scripted.script = lambda request, turn: Say(translation_in(request).replace("asked anything", "asked a thing"))
    return scripted


def app_of(settings: Settings) -> FastAPI:
    return create_app(settings, open_engine(settings))


def number_in(text: str) -> int:
    """Return the number of the paragraph in the sample."""
    found = re.search(r"number (\d+)", text)
    assert found
    return int(found.group(1))


def asked_for(scripted: ScriptedServer) -> Counter[int]:
    """Count the requests for each paragraph."""
    return Counter(number_in(translation_in(request)) for request in list(scripted.requests))


def hang_from(first: int) -> Any:
    """Answer paragraphs before `first`, and hang on the others."""

    def script(request: dict[str, Any], turn: int) -> Move:
        return echo(request, turn) if number_in(translation_in(request)) < first else Hang()

    return script


def events_of(response: httpx2.Response) -> Generator[tuple[str, dict[str, Any]]]:
    name = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


# From upload to download.


def test_a_book_is_edited_from_the_upload_to_the_result(client: httpx2.Client, mending: ScriptedServer) -> None:
    job = begin(client, 12, name="La Nuit")
    with client.stream("GET", f"/v1/jobs/{job['id']}/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = list(events_of(response))
    assert (events[0][0], events[-1]) == ("progress", ("end", {"state": "done", "note": ""}))
    done = look(client, job["id"])
    assert (done["state"], done["share"], done["counts"]["edited"]) == ("done", 1.0, 12)
    assert done["chapters"][0]["counts"] == done["counts"]
    assert done["quarantined"] == []
    result = client.get(f"/v1/jobs/{job['id']}/result")
    assert result.status_code == 200
    assert result.text == "\n\n".join(mt.replace("anything", "a thing") for mt in MTS[:12]) + "\n"
    assert client.delete(f"/v1/jobs/{job['id']}").status_code == 204
    assert client.get(f"/v1/jobs/{job['id']}").status_code == 404


def test_a_restart_goes_on_where_it_was(settings: Settings, scripted: ScriptedServer) -> None:
    scripted.script = hang_from(7)
    with service(settings) as client:
        job = begin(client, 12)
        wait_for(client, job["id"], lambda job: job["counts"]["unchanged"] == 7)
    first = asked_for(scripted)
    scripted.requests.clear()
    scripted.script = echo
    with service(settings) as client:
        done = wait_until_done(client, job["id"])
        result = client.get(f"/v1/jobs/{job['id']}/result")
    again = asked_for(scripted)
    assert done["counts"]["unchanged"] == 12
    assert all(first[number] == 1 for number in range(7))
    assert again == dict.fromkeys(range(7, 12), 1)
    assert result.text == "\n\n".join(MTS[:12]) + "\n"


def test_a_service_that_was_killed_at_the_last_step_writes_the_book_after_all(
    settings: Settings, scripted: ScriptedServer
) -> None:
    with service(settings) as client:
        job = begin(client, 6)
        wait_until_done(client, job["id"])
    with JobStore(settings.jobs_url) as store:
        output = Path(store.job(job["id"]).output)
        output.unlink()
        store.update(job["id"], state=JobState.RUNNING, outcome="", output_hash="")
    scripted.requests.clear()
    with service(settings) as client:
        wait_until_done(client, job["id"])
        assert output.is_file()
    assert scripted.requests == []


# Pause, resume, redo, delete.


def test_a_paused_job_asks_for_nothing_until_it_is_resumed(client: httpx2.Client, scripted: ScriptedServer) -> None:
    scripted.script = hang_from(3)
    job = begin(client, 6)
    wait_for(client, job["id"], lambda job: job["counts"]["unchanged"] == 3)
    paused = client.post(f"/v1/jobs/{job['id']}/pause")
    assert (paused.status_code, paused.json()["state"]) == (200, "paused")
    assert client.post(f"/v1/jobs/{job['id']}/pause").status_code == 200
    scripted.script = echo
    wait_for(client, job["id"], lambda job: job["paragraphs_per_minute"] is None)  # it no longer runs
    count = len(scripted.requests)
    assert look(client, job["id"])["counts"]["waiting"] == 3
    assert client.get(f"/v1/jobs/{job['id']}/result").status_code == 409
    assert len(scripted.requests) == count
    resumed = client.post(f"/v1/jobs/{job['id']}/resume")
    assert (resumed.status_code, resumed.json()["state"]) == (200, "running")
    wait_until_done(client, job["id"])
    for change in ("pause", "resume"):
        over = client.post(f"/v1/jobs/{job['id']}/{change}")
        assert (over.status_code, "is done" in over.json()["detail"]) == (409, True)


def test_a_paused_job_stays_so_over_a_restart(settings: Settings, scripted: ScriptedServer) -> None:
    scripted.script = hang_from(0)
    with service(settings) as client:
        job = begin(client, 3)
        client.post(f"/v1/jobs/{job['id']}/pause")
    scripted.requests.clear()
    scripted.script = echo
    with service(settings) as client:
        other = begin(client, 3)
        wait_until_done(client, other["id"])
        assert look(client, job["id"])["state"] == "paused"
    assert asked_for(scripted) == {0: 1, 1: 1, 2: 1}


def test_paragraphs_are_done_again_and_no_others(client: httpx2.Client, mending: ScriptedServer) -> None:
    job = begin(client, 6)
    wait_until_done(client, job["id"])
    rows = client.get(f"/v1/jobs/{job['id']}/result", params={"format": "jsonl"}).text.splitlines()
    third = json.loads(rows[2])["id"]
    mending.requests.clear()
    mending.script = lambda request, turn: Say(translation_in(request).replace("nobody", "no one"))
    redone = client.post(f"/v1/jobs/{job['id']}/redo", json={"paragraphs": [third]})
    assert (redone.status_code, redone.json()["state"]) == (200, "running")
    wait_until_done(client, job["id"])
    assert asked_for(mending) == {2: 1}
    text = client.get(f"/v1/jobs/{job['id']}/result").text
    assert (text.count("no one"), text.count("a thing")) == (1, 5)


def test_a_request_to_redo_says_what(client: httpx2.Client) -> None:
    job = begin(client, 3)
    wait_until_done(client, job["id"])
    bodies: list[tuple[Any, int]] = [
        ({}, 422),
        ({"paragraphs": ["nowhere"]}, 422),
        ({"paragraphs": ["\0"]}, 422),
        ({"rejected": "yes"}, 422),
        ({"rejected": True, "more": 1}, 422),
        ([], 422),
        ({"rejected": True}, 200),
    ]
    for body, status in bodies:
        response = client.post(f"/v1/jobs/{job['id']}/redo", json=body)
        assert response.status_code == status, (body, response.text)
        assert look(client, job["id"])["state"] == "done", body  # no paragraph was rejected


def test_poison_is_quarantined_and_named_and_done_again_when_it_is_gone(
    client: httpx2.Client, scripted: ScriptedServer
) -> None:
    scripted.script = lambda request, turn: (
        Fail(400) if number_in(translation_in(request)) in (1, 4) else echo(request, turn)
    )
    job = begin(client, 8)
    done = wait_until_done(client, job["id"])
    assert (done["counts"]["quarantined"], done["counts"]["unchanged"]) == (2, 6)
    assert len(done["quarantined"]) == 2
    assert all("scripted failure" in one["reason"] for one in done["quarantined"])
    scripted.script = echo
    client.post(f"/v1/jobs/{job['id']}/redo", json={"quarantined": True})
    assert wait_until_done(client, job["id"])["counts"]["unchanged"] == 8


def test_deleting_in_the_middle_drops_what_is_in_hand_and_leaves_nothing(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.script = hang_from(0)
    with service(settings) as client:
        job = begin(client, 6, context="0")
        wait_for(client, job["id"], lambda _: len(scripted.requests) >= 4)
        with client.stream("GET", f"/v1/jobs/{job['id']}/events") as response:
            events = events_of(response)
            assert next(events)[0] == "progress"
            assert client.delete(f"/v1/jobs/{job['id']}").status_code == 204
            *_, last = events
        assert last == ("end", {"state": "cancelled", "note": ""})
        assert uploaded_files(settings) == []
        count = len(scripted.requests)
        scripted.script = echo
        wait_until_done(client, begin(client, 3)["id"])
        assert len(scripted.requests) == count + 3
    with JobStore(settings.jobs_url) as store:
        assert job["id"] not in {one.id for one in store.jobs()}


# Failures.


def test_a_failing_engine_is_waited_for(client: httpx2.Client, scripted: ScriptedServer) -> None:
    """The job stays running with a note, and resuming retries immediately."""
    scripted.play(Fail(400))
    job = begin(client, 8)
    waiting = wait_for(client, job["id"], lambda job: job["note"])
    assert waiting["state"] == "running"
    assert "scripted failure" in waiting["note"]
    assert "next attempt is in 5 seconds" in waiting["note"]
    assert waiting["counts"]["waiting"] == 8
    scripted.script = echo
    client.post(f"/v1/jobs/{job['id']}/resume")
    assert wait_until_done(client, job["id"])["note"] == ""


def change_recipe(settings: Settings, id: str, **changes: str) -> None:
    with JobStore(settings.jobs_url) as store:
        store.update(id, recipe=replace(store.job(id).recipe, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": "an-old-one"}, "an-old-one is no longer served"),
        ({"revision": "abc"}, "revision abc"),
        ({"prompt": "chat@0"}, "must not mix"),
    ],
)
def test_results_of_two_models_do_not_mix(
    changes: dict[str, str], words: str, settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.script = hang_from(1)
    with service(settings) as client:
        job = begin(client, 3)
        wait_for(client, job["id"], lambda job: job["counts"]["unchanged"] == 1)
    change_recipe(settings, job["id"], **changes)
    scripted.script = echo
    scripted.requests.clear()
    with service(settings) as client:
        failed = wait_for(client, job["id"], lambda job: job["state"] == "failed")
        assert words in failed["note"]
        assert scripted.requests == []
        partial = client.get(f"/v1/jobs/{job['id']}/result", params={"partial": True})
        assert partial.status_code == 200


def test_a_book_that_was_damaged_meanwhile_fails_with_a_sentence(settings: Settings, scripted: ScriptedServer) -> None:
    scripted.script = hang_from(2)
    with service(settings) as client:
        job = begin(client, 3)
        wait_for(client, job["id"], lambda job: job["counts"]["unchanged"] == 2)
    (settings.uploads_folder / job["id"] / "mt.txt").write_text("Something else.")
    scripted.script = echo
    with service(settings) as client:
        failed = wait_for(client, job["id"], lambda job: job["state"] == "failed")
        assert "has changed" in failed["note"]
        assert "Start the job again" in failed["note"]
        assert str(settings.uploads_folder) not in failed["note"]
        assert client.get(f"/v1/jobs/{job['id']}/result").status_code == 409


def test_a_job_whose_file_is_elsewhere_says_so_and_waits(settings: Settings, scripted: ScriptedServer) -> None:
    scripted.script = hang_from(2)
    with service(settings) as client:
        job = begin(client, 3)
        wait_for(client, job["id"], lambda job: job["counts"]["unchanged"] == 2)
    uploaded = settings.uploads_folder / job["id"] / "mt.txt"
    content = uploaded.read_bytes()
    uploaded.unlink()
    scripted.script = echo
    with service(settings) as client:
        waiting = wait_for(client, job["id"], lambda job: job["note"])
        assert (waiting["state"], "not on this machine" in waiting["note"]) == ("running", True)
        uploaded.write_bytes(content)
        client.post(f"/v1/jobs/{job['id']}/resume")
        assert wait_until_done(client, job["id"])["note"] == ""


@pytest.mark.parametrize("url", ["/data/of/ours/jobs.sqlite", "postgresql://ape:secret@db/ape"])
def test_where_jobs_are_kept_is_not_shown(url: str) -> None:
    assert url not in public_message(StoreError(f"The disk of {url} is full."))
    assert url not in public_message(InputError(f"{url} is not a job store.", field="store"))


def test_jobs_of_the_command_line_are_not_ours(settings: Settings, scripted: ScriptedServer, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    mt = tmp_path / "mt.txt"
    mt.write_text(MTS[0])
    recipe = JobRecipe("scripted", "", "", "fr", "en")
    theirs = Job("theirs", "", "b", "", "", str(mt), "", str(tmp_path / "o"), "txt", recipe, JobState.RUNNING, now, now)
    with JobStore(settings.jobs_url) as store:
        store.add(theirs)
    with service(settings) as client:
        wait_until_done(client, begin(client, 3)["id"])
        assert [job["id"] for job in client.get("/v1/jobs").json()["jobs"]] != ["theirs"]
        assert client.get("/v1/jobs/theirs").status_code == 404
        assert client.delete("/v1/jobs/theirs").status_code == 404
    with JobStore(settings.jobs_url) as store:
        assert store.job("theirs").state is JobState.RUNNING


def test_many_jobs_are_done_by_turns(
    client: httpx2.Client, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one running job and zero-length turns, all jobs finish."""
    monkeypatch.setattr("serve.scheduler.scheduler.MAX_RUNNING_JOBS", 1)
    monkeypatch.setattr("serve.scheduler.scheduler.TURN_SECONDS", 0.0)
    jobs = [begin(client, 4)["id"] for _ in range(3)]
    for job in jobs:
        wait_until_done(client, job)

    assert asked_for(scripted) == dict.fromkeys(range(4), 3)


def test_passages_keep_half_of_the_engine(client: httpx2.Client, scripted: ScriptedServer) -> None:
    """The concurrency is 8: a book blocks 4 requests, and a passage still gets through."""
    scripted.script = lambda request, turn: Hang() if "number" in translation_in(request) else echo(request, turn)
    job = begin(client, 30, context="0")
    wait_for(client, job["id"], lambda _: len(scripted.requests) == 4)
    answer = client.post("/v1/post-edit", json={"source": "Il dort.", "mt": "He sleeps now."})
    assert answer.json()["decision"] == "unchanged"


# Status and results.


def test_jobs_are_listed_page_by_page_the_newest_first(client: httpx2.Client, scripted: ScriptedServer) -> None:
    made = [begin(client, 3)["id"] for _ in range(5)]
    for job in made:
        wait_until_done(client, job)
    seen, after = [], None
    while True:
        page = client.get("/v1/jobs", params={"limit": 2} | ({"after": after} if after else {})).json()
        seen += [job["id"] for job in page["jobs"]]
        assert len(page["jobs"]) <= 2
        if not (after := page["next"]):
            break
    assert [job for job in seen if job in made] == made[::-1]
    assert client.get("/v1/jobs", params={"after": "nothing"}).status_code == 404
    assert client.get("/v1/jobs", params={"limit": 0}).status_code == 422


def test_a_job_tells_how_fast_it_is_and_how_long_it_will_take(client: httpx2.Client, scripted: ScriptedServer) -> None:
    scripted.script = hang_from(6)
    job = begin(client, 12)
    # The estimate has one decimal: on a fast machine it is 0.0 at first, and grows while the seventh paragraph hangs.
    half = wait_for(client, job["id"], lambda job: job["counts"]["unchanged"] == 6 and job["seconds_left"])
    assert 0.4 < half["share"] < 0.6
    assert half["paragraphs_per_minute"] > 0


FORMATS = {
    "book": "text/plain",
    "jsonl": "application/jsonl",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "tmx": "application/x-tmx+xml",
    "xliff": "application/xliff+xml",
    "report": "text/html; charset=utf-8",
}


@pytest.fixture(scope="module")
def finished(shared_client: httpx2.Client, engine_server: ScriptedServer) -> str:
    engine_server.script = lambda request, turn: Say(translation_in(request).replace("anything", "a thing"))
    job: str = begin(shared_client, 5, name=NAME)["id"]
    wait_until_done(shared_client, job)
    return job


@pytest.mark.parametrize("format", FORMATS)
def test_the_result_comes_in_every_format(format: str, finished: str, client: httpx2.Client, shared: Settings) -> None:
    before = uploaded_files(shared)
    response = client.get(f"/v1/jobs/{finished}/result", params={"format": format})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == FORMATS[format]
    assert int(response.headers["content-length"]) == len(response.content)
    assert response.content.decode().count("a thing") >= 5
    if format in ("tmx", "xliff"):
        ElementTree.fromstring(response.content)
    assert uploaded_files(shared) == before


def test_a_finished_book_is_given_while_others_are_being_read(
    finished: str, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkerThreads, "run", None)
    assert client.get(f"/v1/jobs/{finished}/result").status_code == 200


def test_there_is_nothing_to_resume_where_all_is_done(finished: str, client: httpx2.Client) -> None:
    response = client.post(f"/v1/jobs/{finished}/resume")
    assert response.status_code == 409
    assert response.json()["detail"] == "The job is done: there is nothing to resume."


def test_the_file_has_a_name_that_is_safe_and_whole(finished: str, client: httpx2.Client) -> None:
    given = client.get(f"/v1/jobs/{finished}/result").headers["content-disposition"]
    assert given == (
        'attachment; filename="Nuit d\'_t_ _ _.post-edited.txt"; '
        "filename*=UTF-8''Nuit%20d%27%C3%A9t%C3%A9%20_%20%E5%A4%8F.post-edited.txt"
    )


def test_what_there_is_so_far_is_given_to_who_asks_for_it(client: httpx2.Client, scripted: ScriptedServer) -> None:
    scripted.script = lambda request, turn: (
        Say(translation_in(request).replace("anything", "a thing"))
        if number_in(translation_in(request)) < 2
        else Hang()
    )
    job = begin(client, 4)
    wait_for(client, job["id"], lambda job: job["counts"]["edited"] == 2)
    refused = client.get(f"/v1/jobs/{job['id']}/result")
    assert (refused.status_code, "partial=true" in refused.json()["detail"]) == (409, True)
    partial = client.get(f"/v1/jobs/{job['id']}/result", params={"partial": True})
    assert partial.status_code == 200
    assert (partial.text.count("a thing"), partial.text.count("anything")) == (2, 2)
    assert client.get(f"/v1/jobs/{job['id']}/result", params={"format": "pdf"}).status_code == 422


# Event streams.


def listeners(app: FastAPI) -> int:
    count: int = app.state.scheduler.progress.subscribers
    return count


def wait_while(condition: Any) -> None:
    deadline = time.monotonic() + 300
    while condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_many_listen_and_each_hears_all_of_it(client: httpx2.Client, app: FastAPI, scripted: ScriptedServer) -> None:
    scripted.script = hang_from(2)
    job = begin(client, 5)
    wait_for(client, job["id"], lambda job: job["counts"]["unchanged"] == 2)
    path = f"/v1/jobs/{job['id']}/events"
    with client.stream("GET", path) as one, client.stream("GET", path) as other:
        heard = [events_of(one), events_of(other)]
        for events in heard:
            name, progress = next(events)
            assert (name, progress["counts"]["waiting"], progress["state"]) == ("progress", 3, "running")
        scripted.script = echo
        client.post(f"/v1/jobs/{job['id']}/pause")
        for events in heard:
            assert ("state", {"state": "paused", "note": ""}) in iter_until(events, "state")
        client.post(f"/v1/jobs/{job['id']}/resume")
        for events in heard:
            rest = list(events)
            assert rest[-1] == ("end", {"state": "done", "note": ""})
            finished = [data for name, data in rest if name == "paragraph"]
            assert [data["decision"] for data in finished] == ["unchanged"] * 3
            last = [data for name, data in rest if name == "progress"][-1]
            assert (last["share"], last["counts"]["waiting"]) == (1.0, 0)
    wait_while(lambda: listeners(app))


def iter_until(events: Iterator[tuple[str, Any]], name: str) -> list[tuple[str, Any]]:
    heard = []
    for event in events:
        heard.append(event)
        if event[0] == name:
            break
    return heard


def test_who_hangs_up_is_forgotten_and_the_job_goes_on(
    client: httpx2.Client, app: FastAPI, scripted: ScriptedServer
) -> None:
    scripted.script = hang_from(1)
    job = begin(client, 3)
    with client.stream("GET", f"/v1/jobs/{job['id']}/events") as response, closing(events_of(response)) as events:
        assert next(events)[0] == "progress"
        assert listeners(app) == 1
    wait_while(lambda: listeners(app))
    scripted.script = echo
    wait_until_done(client, job["id"])


def test_of_a_job_that_is_over_there_is_only_that_to_tell(finished: str, client: httpx2.Client) -> None:
    with client.stream("GET", f"/v1/jobs/{finished}/events") as response:
        assert [name for name, _ in events_of(response)] == ["progress", "end"]


# Owners.


BODIES: dict[str, object] = {"/v1/jobs/{id}/redo": {"rejected": True}}


def test_nobody_elses_key_sees_a_job_by_any_route(settings: Settings, scripted: ScriptedServer) -> None:
    keyed = Settings.model_validate(settings.model_dump() | {"api_keys": ("anna", "boris")})
    scripted.script = hang_from(1)
    app = app_of(keyed)
    routes = [
        (method, route.path)
        for route in app.routes
        if isinstance(route, APIRoute) and route.path.startswith("/v1/jobs/{id}")
        for method in route.methods or ()
    ]
    assert len(routes) >= 20
    statuses: dict[tuple[str, str], int] = {}
    boris = {"Authorization": "Bearer boris"}
    with serving(app, headers={"Authorization": "Bearer anna"}) as client:
        job = begin(client, 3)
        before = wait_for(client, job["id"], lambda job: job["counts"]["unchanged"] == 1)
        for method, path in routes:
            answers = []
            for named in (job["id"], "0" * 32):
                answer = client.request(method, path.replace("{id}", named), headers=boris, json=BODIES.get(path))
                answers.append((answer.status_code, answer.text.replace(named, "ID")))
                alone = client.request(method, path.replace("{id}", named), headers={"Authorization": ""})
                assert alone.status_code in ({401, 422} if answers[-1][0] == 422 else {401}), path
            assert answers[0] == answers[1], path
            statuses[method, path] = answers[0][0]
        # A malformed request is refused before the job is looked for, whoever sends it.
        assert set(statuses.values()) <= {404, 422}
        assert sum(status == 404 for status in statuses.values()) >= 15
        assert client.get("/v1/jobs", headers=boris).json()["jobs"] == []
        assert client.get("/v1/jobs", headers=boris, params={"after": job["id"]}).status_code == 404
        assert look(client, job["id"])["counts"] == before["counts"]
        assert look(client, job["id"])["state"] == "running"
        assert len(client.get("/v1/jobs").json()["jobs"]) == 1


@pytest.mark.parametrize("id", ["x", "%00", "%ED%A0%80", "..%2F..", "A" * 3000, "0" * 32])
def test_what_is_no_id_is_no_job(id: str, client: httpx2.Client) -> None:
    assert client.get(f"/v1/jobs/{id}").status_code == 404


# Metrics.


def test_jobs_and_their_paragraphs_are_counted(settings: Settings, scripted: ScriptedServer) -> None:
    with service(settings) as client:
        wait_until_done(client, begin(client, 4)["id"])
        wait_while(lambda: 'ape_jobs{state="done"} 1.0' not in client.get("/metrics").text)
        text = client.get("/metrics").text
        assert 'ape_book_paragraphs_total{decision="unchanged"} 4.0' in text
        assert 'ape_book_paragraphs_total{decision="quarantined"} 0.0' in text
        assert 'ape_tokens_total{kind="completion",model="scripted"} 80.0' in text


def test_where_the_jobs_are_kept_is_not_told_over_http() -> None:
    problem = problem_from_error(StoreError("/data/of/ours/jobs.sqlite is locked by another program."))
    assert problem.status == 503
    assert "/data" not in str(problem.to_json())
