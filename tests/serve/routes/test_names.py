"""The names of a job over HTTP: built on upload, read, replaced, and applied again without a model call."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ape.jobs.job import Job
from ape.ledger.entity import Ledger
from ape.settings import Settings
from serve.routes.names import ledger_of
from tests.scripted import ScriptedServer, echo, translation_in
from tests.serve.book_library import begin, look, service, settings_in, wait_until_done

pytest.importorskip("pypinyin", reason="reads Chinese names aloud")

LANGUAGES = {"source_language": "zh", "target_language": "en"}
PAIRS = (
    ("方召推开门，看了看窗外的雨。", "Fang Zao pushed the door open and looked at the rain outside."),
    ("雨下了一整夜，街上没有人。", "It rained all night and there was nobody in the street."),
    ("第二天早上，天晴了，鸟也叫了。", "The next morning the sky cleared and the birds sang too."),
    ("老人坐在桥边，慢慢地抽着烟。", "The old man sat by the bridge and smoked slowly."),
    ("桥下的水很清，能看见石头。", "The water under the bridge was clear and one could see the stones."),
    ("严彪问方召要不要一起去吃饭。", "Yan Biao asked Fang Zhao whether he wanted to eat together."),
    ("方召说他不饿，方召只想睡觉。", "Fang Zhao said he was not hungry; Fang Zhao only wanted to sleep."),
    ("严彪笑了，方召也笑了。", "Yan Biao laughed, and Fang Zhao laughed too."),
)
NAMES = "source,target,variants,gender\n方召,Fang Zhao,Fang Zao (1); Fang Zhao (4),male\n"
CSV = {"Content-Type": "text/csv"}


@pytest.fixture(scope="module")
def settings(service_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings_in(service_settings, tmp_path_factory.mktemp("service"), max_body_bytes=100_000)


@pytest.fixture(scope="module")
def shared_client(settings: Settings) -> Iterator[httpx2.Client]:
    with service(settings) as client:
        yield client


@pytest.fixture
def client(shared_client: httpx2.Client, scripted: ScriptedServer) -> httpx2.Client:
    """A client of the service, whose model returns the MT as it is."""
    return shared_client


def send(client: httpx2.Client, file: str | bytes | None = None, **fields: str) -> httpx2.Response:
    source, mt = ("\n\n".join(side).encode() + b"\n" for side in zip(*PAIRS, strict=True))
    parts: dict[str, Any] = {"source": ("s.txt", source), "mt": ("t.txt", mt)}
    if file is not None:
        parts["names"] = ("names.csv", file)
    return client.post("/v1/books", files=parts, data=LANGUAGES | fields)


def finished(client: httpx2.Client, file: str | None = NAMES, **fields: str) -> str:
    response = send(client, file, **fields)
    assert response.status_code == 201, response.text
    job: str = response.json()["id"]
    wait_until_done(client, job)
    return job


@pytest.fixture(scope="module")
def finished_job(shared_client: httpx2.Client, engine_server: ScriptedServer) -> str:
    """A finished job with names, for tests that leave it as it is."""
    engine_server.script = echo
    return finished(shared_client)


def result(client: httpx2.Client, job: str) -> str:
    return client.get(f"/v1/jobs/{job}/result").text


def test_the_names_are_found_on_upload_and_repaired_before_the_model_edits(
    client: httpx2.Client, scripted: ScriptedServer
) -> None:
    job = finished(client, None)
    names = client.get(f"/v1/jobs/{job}/names")
    assert names.headers["content-type"] == "application/json"
    entities = {one["source_forms"][0]["text"]: one for one in names.json()["entities"]}
    assert entities["方召"]["target"] == "Fang Zhao"
    assert "Fang Zao" not in result(client, job)
    assert not any("Zao" in translation_in(request) for request in scripted.requests)


def test_a_book_may_come_with_its_names_or_without_any(client: httpx2.Client) -> None:
    given = finished(client, NAMES.replace("方召,Fang Zhao", "方召,Fang Jao"))
    assert result(client, given).startswith("Fang Jao pushed")
    none = finished(client, None, names="none")
    assert result(client, none).startswith("Fang Zao pushed")
    assert client.get(f"/v1/jobs/{none}/names").json()["entities"] == []


@pytest.mark.parametrize(
    ("query", "accept", "kind"),
    [
        ({"format": "csv"}, "*/*", "text/csv"),
        ({}, "text/csv", "text/csv"),
        ({"format": "tsv"}, "text/csv", "text/tab-separated-values"),
        ({"format": "list"}, "*/*", "text/plain"),
        ({"format": "tbx"}, "*/*", "application/xml"),
        ({}, "text/html, */*;q=0.8", "application/json"),
    ],
)
def test_the_names_are_sent_as_the_client_wants_them(
    client: httpx2.Client, finished_job: str, query: dict[str, str], accept: str, kind: str
) -> None:
    response = client.get(f"/v1/jobs/{finished_job}/names", params=query, headers={"Accept": accept})
    assert response.headers["content-type"].partition(";")[0] == kind
    assert "attachment" in response.headers["content-disposition"]
    assert "Fang Zhao" in response.text
    if kind == "text/csv":
        (row,) = csv.DictReader(io.StringIO(response.text.removeprefix("\ufeff")))
        assert (row["source"], row["gender"]) == ("方召", "male")


def test_a_changed_name_rewrites_a_finished_book_without_a_model_call(
    client: httpx2.Client, scripted: ScriptedServer
) -> None:
    job = finished(client)
    before, asked = result(client, job), len(scripted.requests)
    ledger = client.get(f"/v1/jobs/{job}/names").json()
    ledger["entities"][0]["target"] = "Fang Jao"
    response = client.put(f"/v1/jobs/{job}/names", json=ledger)
    assert response.status_code == 200, response.text
    assert response.json()["counts"]["waiting"] == 0
    wait_until_done(client, job)
    assert result(client, job) == before.replace("Fang Zhao", "Fang Jao")
    assert len(scripted.requests) == asked
    assert client.get(f"/v1/jobs/{job}/names").json()["entities"][0]["target"] == "Fang Jao"


def test_names_without_renderings_are_completed_from_the_book(client: httpx2.Client) -> None:
    job = finished(client, None, names="none")
    response = client.put(
        f"/v1/jobs/{job}/names", content="方召->Fang Zhao #male\n".encode(), headers={"Content-Type": "text/plain"}
    )
    assert response.status_code == 200, response.text
    wait_until_done(client, job)
    assert result(client, job).startswith("Fang Zhao pushed")


@pytest.mark.parametrize(
    ("body", "headers", "status", "message"),
    [
        (NAMES.replace("variants", "colour"), CSV, 422, "Line 1 of names.csv: unknown columns: 'colour'"),
        ("id,source,target\na,方召,Fang Zhao\na,严彪,Yan Biao\n", CSV, 422, "Line 3 of names.csv: the id 'a' is taken"),
        ("source,target,gender\n方召,Fang,male\n方召,Fang,female\n", CSV, 422, "female here and male in"),
        ("source,target,regex\n(方+)+召,Fang,true\n", CSV, 422, "regex"),
        ("", CSV, 422, "is empty"),
        (b"\xff\xfe", CSV, 400, "not UTF-8"),
        ("{", {"Content-Type": "application/json"}, 422, "Line 1 of names.json: it is not JSON"),
        ('{"entities": [{"id": 1}]}', {"Content-Type": "application/json"}, 422, "entities"),
        ('{"方召": "Fang\\ud800"}', {"Content-Type": "application/json"}, 422, "not text"),
        ("source,target\nFang Zhao,方召\n", CSV, 422, "swapped"),
        ("x", {"Content-Type": "image/png"}, 415, "must be"),
        ("x" * 200_000, CSV, 413, "larger"),
    ],
)  # fmt: skip
def test_bad_names_are_refused_with_a_sentence_and_nothing_changes(
    client: httpx2.Client, finished_job: str, body: str | bytes, headers: dict[str, str], status: int, message: str
) -> None:
    job = finished_job
    before = client.get(f"/v1/jobs/{job}/names").text
    content = body if isinstance(body, bytes) else body.encode()
    response = client.put(f"/v1/jobs/{job}/names", content=content, headers=headers)
    assert (response.status_code, message in response.json()["detail"]) == (status, True), response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert (look(client, job)["state"], client.get(f"/v1/jobs/{job}/names").text) == ("done", before)


@pytest.mark.parametrize(
    ("names", "message"), [("source,colour\nx,y\n", "unknown columns: 'colour'"), (b"\xff\xfe\xff", "UTF-8")]
)
def test_a_book_with_bad_names_is_refused(client: httpx2.Client, names: str | bytes, message: str) -> None:
    response = send(client, names)
    assert (response.status_code, response.json()["field"]) == (422, "names")
    assert message in response.json()["detail"]
    assert send(client, None, names="all").status_code == 422


def test_a_job_of_another_kind_of_book_says_why_it_has_no_names(client: httpx2.Client) -> None:
    source, mt = ("".join(f"{side} {n}.\n\n" for n in range(3)).encode() for side in ("Dobar dan", "Good day"))
    fields = {"source_language": "hr", "target_language": "en"}
    response = client.post("/v1/books", files={"source": ("s.txt", source), "mt": ("t.txt", mt)}, data=fields)
    assert response.status_code == 201, response.text
    job = response.json()["id"]
    (note,) = client.get(f"/v1/jobs/{job}/names").json()["notes"]
    assert "nothing was done" in note


def test_only_the_paragraphs_that_a_name_touches_wait_again(client: httpx2.Client, scripted: ScriptedServer) -> None:
    job = begin(client, 6)
    wait_until_done(client, job["id"])
    asked = len(scripted.requests)
    body = "source,target,variants\nOdile,Odille,Odile (1)\n"
    assert client.put(f"/v1/jobs/{job['id']}/names", content=body, headers=CSV).status_code == 200
    wait_until_done(client, job["id"])
    text = result(client, job["id"])
    assert (text.count("Odille"), text.count("Claire")) == (1, 1)
    assert len(scripted.requests) == asked


def test_names_are_within_the_quota_of_their_owner(
    service_settings: Settings, scripted: ScriptedServer, tmp_path: Path
) -> None:
    """A service looks through all its jobs every few seconds: many long lists of names filled its memory."""
    settings = settings_in(service_settings, tmp_path, max_stored_bytes=30_000)
    scripted.script = echo
    with service(settings) as client:
        job = wait_until_done(client, begin(client, 4)["id"])
        rows = "".join(f"Nom{number},Name{number}\n" for number in range(2_000))
        address, content = f"/v1/jobs/{job['id']}/names", {"content-type": "text/csv"}
        refused = client.put(address, content=f"source,target\n{rows}", headers=content)
        assert refused.status_code == 507
        assert "max_stored_bytes" in refused.json()["detail"]
        assert client.put(address, content="source,target\nClaire,Claire\n", headers=content).status_code == 200


@pytest.mark.parametrize("path", ["/v1/jobs/{}/names", "/v1/jobs/{}/names?format=csv", "/books/{}"])
def test_names_are_read_in_a_thread_for_they_may_be_long(
    client: httpx2.Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading 12,000 names in the event loop held up every other client for five seconds."""
    job, loops = finished(client), []

    def read(job: Job) -> Ledger:
        with suppress(RuntimeError):
            loops.append(asyncio.get_running_loop())
        return ledger_of(job)

    for module in ("serve.routes.names", "serve.pages.books"):
        monkeypatch.setattr(f"{module}.ledger_of", read)
    assert client.get(path.format(job)).status_code == 200
    assert loops == []
