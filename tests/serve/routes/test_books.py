"""An uploaded book becomes a job, or is refused with a message and removed."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from pydantic import ValidationError

from ape.engines import Engine
from ape.jobs.store import JobStore
from ape.settings import Settings
from serve.scheduler.scheduler import JobScheduler
from serve.schemas.jobs import BookRequest
from tests.scripted import ScriptedServer
from tests.serve.book_library import (
    LANGUAGES,
    begin,
    bilingual,
    files,
    service,
    settings_in,
    text_pair,
    uploaded_files,
    wait_until_done,
)
from tests.serve.hanging_plan import plan_and_hang

Until = Callable[..., Awaitable[None]]
LIMIT = 100_000
ID = "a" * 32


@pytest.fixture(autouse=True)
def _the_model_echoes(scripted: ScriptedServer) -> None:
    """Every draft is the MT."""


@pytest.fixture(scope="module")
def settings(service_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings_in(service_settings, tmp_path_factory.mktemp("service"), max_book_bytes=LIMIT)


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[httpx2.Client]:
    with service(settings) as client:
        yield client


@pytest.fixture
def nothing_stays(client: httpx2.Client, settings: Settings) -> Iterator[None]:
    """Check that the test leaves no jobs or files."""
    with JobStore(settings.jobs_url) as store:
        before = uploaded_files(settings), {job.id for job in store.jobs()}
        yield
        assert (uploaded_files(settings), {job.id for job in store.jobs()}) == before


def send(client: httpx2.Client, parts: dict[str, Any], **fields: str) -> httpx2.Response:
    return client.post("/v1/books", files=parts, data={**LANGUAGES, **fields})


def test_a_pair_becomes_a_job(client: httpx2.Client, settings: Settings) -> None:
    job = begin(client, 12)
    assert re.fullmatch("[0-9a-f]{32}", job["id"])
    assert (job["name"], job["format"], job["counts"]["paragraphs"]) == ("Night.txt", "txt", 12)
    assert (job["source_language"], job["target_language"], job["model"]) == ("fr", "en", "scripted")
    wait_until_done(client, job["id"])
    assert [name for name in uploaded_files(settings) if job["id"] in name] == [
        job["id"],
        f"{job['id']}/mt.txt",
        f"{job['id']}/output.txt",
        f"{job['id']}/source.txt",
    ]


def test_one_bilingual_file_becomes_a_job(client: httpx2.Client) -> None:
    response = send(client, {"bilingual": ("Night.jsonl", bilingual(5))}, name="Two nights")
    assert response.status_code == 201, response.text
    assert (response.json()["name"], response.json()["format"]) == ("Two nights", "jsonl")
    wait_until_done(client, response.json()["id"])


def test_the_wishes_are_those_of_the_job(client: httpx2.Client, settings: Settings) -> None:
    fields = {
        "context": "3",
        "instructions": "Keep it plain.",
        "glossary": json.dumps({"Claire": "Clara"}),
        "temperature": "0.5",
        "top_p": "0.9",
        "seed": "7",
        "max_attempts": "1",
        "n": "2",
        "encoding": "utf-8",
        "format": "txt",
        "model": "scripted",
        "name": "",
    }
    job = begin(client, 3, **fields)
    wait_until_done(client, job["id"])
    with JobStore(settings.jobs_url) as store:
        stored = store.job(job["id"], owner="")
    recipe = stored.recipe
    assert (recipe.context, recipe.instructions, recipe.glossary) == (3, "Keep it plain.", (("Claire", "Clara"),))
    assert (recipe.temperature, recipe.top_p, recipe.seed, recipe.max_attempts, recipe.candidates) == (
        0.5,
        0.9,
        7,
        1,
        2,
    )
    assert (stored.encoding, stored.name) == ("utf-8", "Night.txt")


SOURCE, MT = text_pair()


@pytest.mark.parametrize(
    ("parts", "fields", "field", "words"),
    [
        ({"mt": ("a.txt", MT)}, {}, "source", "Send two files"),
        ({"source": ("a.txt", SOURCE)}, {}, "mt", "Received: source"),
        ({"source": ("a.txt", SOURCE), "mt": ("b.txt", MT), "bilingual": ("c.txt", MT)}, {}, "bilingual", ""),
        ({"bilingual": ("Night.txt", MT)}, {}, "bilingual", "bilingual.txt has no source text"),
        ({"bilingual": ("Night.txt", MT)}, {}, "bilingual", "Give both files, source and MT."),
        ({"source": ("a.txt", SOURCE), "mt": ("Empty.txt", b"")}, {}, "mt", "mt.txt is empty"),
        ({"source": ("a.txt", SOURCE), "mt": ("x/N.pdf", b"%PDF-1.7")}, {}, "mt", "mt is a PDF"),
        ({"source": ("mt.txt", b""), "mt": ("source.txt", MT)}, {}, "source", "source.txt is empty"),
        (
            {"source": ("a.txt", SOURCE), "mt": ("b.txt", MT.decode().encode("utf-16-le"))},
            {},
            "encoding",
            "mt.txt has NUL bytes: it is not a text file, or it is UTF-16 without a byte order mark. "
            "In that case, set the encoding to utf-16-le.",
        ),
        ({"source": ("a.txt", SOURCE), "mt": ("b.txt", b"%PDF-1.7 and so on")}, {"format": "epub"}, None, ""),
        ({"source": ("a.txt", SOURCE), "mt": ("b.txt", MT)}, {"format": "papyrus"}, "format", "papyrus"),
        ({"source": ("a.txt", SOURCE), "mt": ("b.txt", SOURCE)}, {}, None, "source.txt and mt.txt are"),
        ({"source": ("a.txt", MT), "mt": ("b.txt", SOURCE)}, {}, None, ""),
        ({"source": ("a.txt", SOURCE), "mt": ("b.txt", MT)}, {"temperature": "hot"}, "temperature", ""),
        ({"source": ("a.txt", SOURCE), "mt": ("b.txt", MT)}, {"glossary": "[]"}, "glossary", ""),
        ({"source": ("a.txt", SOURCE), "mt": ("b.txt", MT)}, {"glossary": "{"}, "glossary", ""),
        ({"source": ("a.txt", SOURCE), "mt": ("b.txt", MT)}, {"context": "21"}, "context", ""),
        ({"source": ("a.txt", SOURCE), "mt": ("b.txt", MT)}, {"source_language": "?"}, "source_language", ""),
        ({"source": ("a.txt", SOURCE), "mt": ("b.txt", MT)}, {"mood": "gay"}, "mood", "Unknown part 'mood'"),
    ],
)
@pytest.mark.usefixtures("nothing_stays")
def test_what_can_not_be_worked_on_is_refused_with_a_sentence(
    parts: dict[str, Any],
    fields: dict[str, str],
    field: str | None,
    words: str,
    client: httpx2.Client,
    settings: Settings,
) -> None:
    response = send(client, parts, **fields)
    problem = response.json()
    assert response.status_code == 422, problem
    assert response.headers["content-type"] == "application/problem+json"
    assert words in problem["detail"]
    assert " --" not in problem["detail"]
    assert field is None or problem["field"] == field
    assert str(settings.uploads_folder) not in response.text


def test_a_glossary_that_takes_seconds_to_read_is_refused_unread() -> None:
    with pytest.raises(ValidationError, match=r"at most 400,000 are allowed"):
        BookRequest.model_validate({"glossary": "a,b\n" * 200_000})


@pytest.mark.usefixtures("nothing_stays")
def test_a_model_that_is_not_served_is_not_found(client: httpx2.Client) -> None:
    response = send(client, files(), model="nobody")
    assert (response.status_code, response.json()["field"]) == (404, "model")


@pytest.mark.usefixtures("nothing_stays")
def test_an_engine_that_is_away_takes_no_books(service_settings: Settings, tmp_path: Path) -> None:
    alone = settings_in(service_settings, tmp_path, url="http://127.0.0.1:9/v1", retry_attempts=1)
    with service(alone) as client:
        response = client.post("/v1/books", files=files(), data=LANGUAGES)
    assert response.status_code == 503
    assert uploaded_files(alone) == []


@pytest.mark.usefixtures("nothing_stays")
@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"", "", 415),
        (b"a=1", "application/x-www-form-urlencoded", 415),
        (b"", "multipart/form-data", 400),
        (b"--x\r\nnonsense", "multipart/form-data; boundary=x", 400),
        (b"--x--\r\n", "multipart/form-data; boundary=x", 422),
    ],
)
def test_what_is_no_form_can_not_be_read(client: httpx2.Client, body: bytes, kind: str, status: int) -> None:
    response = client.post("/v1/books", content=body, headers={"Content-Type": kind})
    assert response.status_code == status, response.text


@pytest.mark.usefixtures("nothing_stays")
def test_too_much_is_refused_by_its_stated_length(client: httpx2.Client) -> None:
    response = send(client, {"mt": ("a.txt", b"x" * LIMIT)})
    assert (response.status_code, response.json()["limit"]) == (413, LIMIT)


@pytest.mark.usefixtures("nothing_stays")
def test_too_much_is_refused_without_a_stated_length_too(client: httpx2.Client) -> None:
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        yield b'--x\r\nContent-Disposition: form-data; name="mt"; filename="a.txt"\r\n\r\n'
        for _ in range(12):
            sent += 10_000
            yield b"y" * 10_000

    response = client.post("/v1/books", content=pieces(), headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert response.status_code == 413
    assert response.json()["limit"] == LIMIT


async def test_who_hangs_up_halfway_leaves_nothing(client: httpx2.Client, settings: Settings, until: Until) -> None:
    before = uploaded_files(settings)

    async def pieces() -> Any:
        yield b'--x\r\nContent-Disposition: form-data; name="mt"; filename="a.txt"\r\n\r\n' + b"y" * 5_000
        await until(lambda: any(name.endswith(".part/mt.txt") for name in uploaded_files(settings)))
        raise ConnectionAbortedError

    async with httpx2.AsyncClient(base_url=client.base_url) as impatient_client:
        with pytest.raises(ConnectionAbortedError):
            await impatient_client.post(
                "/v1/books", content=pieces(), headers={"Content-Type": "multipart/form-data; boundary=x"}
            )
    await until(lambda: uploaded_files(settings) == before)


async def test_who_hangs_up_before_the_answer_leaves_nothing(
    client: httpx2.Client, settings: Settings, scripted: ScriptedServer, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is already planned, but is not started."""
    before = uploaded_files(settings)
    monkeypatch.setattr("serve.scheduler.book_planner._plan", plan_and_hang)
    requests = len(scripted.requests)
    with JobStore(settings.jobs_url) as store:
        known = {job.id for job in store.jobs()}
        async with httpx2.AsyncClient(base_url=client.base_url, timeout=300) as impatient_client:
            sending = asyncio.create_task(impatient_client.post("/v1/books", files=files(), data=LANGUAGES))
            await until(lambda: {job.id for job in store.jobs()} - known)
            sending.cancel()
            await asyncio.wait([sending])
        await until(lambda: {job.id for job in store.jobs()} == known)
    assert uploaded_files(settings) == before
    assert len(scripted.requests) == requests


@pytest.mark.usefixtures("nothing_stays")
def test_a_service_that_stops_takes_no_books(client: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JobScheduler, "is_stopping", True)
    response = send(client, files())
    assert (response.status_code, "stopping" in response.json()["detail"]) == (503, True)


async def test_an_upload_is_cleared_away_also_after_the_last_thread_has_ended(
    service_settings: Settings, tmp_path: Path
) -> None:
    settings = settings_in(service_settings, tmp_path)
    with JobStore(settings.jobs_url) as store:
        scheduler = JobScheduler(store, cast(Engine, None), settings)
        async with scheduler.running():
            pass
        (scheduler.folder / ID).mkdir()
        with pytest.raises(asyncio.CancelledError):
            async with scheduler.receiving_upload(ID):
                raise asyncio.CancelledError
    assert uploaded_files(settings) == []


def test_a_name_of_the_senders_is_a_label_and_no_path(client: httpx2.Client, settings: Settings) -> None:
    parts = {"source": ("../../../tmp/Nuit.txt", SOURCE), "mt": ("/etc/Night of 1880?.txt", MT)}
    response = send(client, parts)
    assert response.status_code == 201, response.text
    assert response.json()["name"] == "Night of 1880?.txt"
    wait_until_done(client, response.json()["id"])


def test_names_of_jobs_can_not_be_guessed(client: httpx2.Client) -> None:
    ids = {begin(client, 3)["id"] for _ in range(3)}
    assert len(ids) == 3


def test_all_languages_are_found_out_where_they_are_not_told(client: httpx2.Client) -> None:
    response = client.post("/v1/books", files=files(12))
    assert response.status_code == 201, response.text
    assert (response.json()["source_language"], response.json()["target_language"]) == ("fr", "en")


def test_a_book_counts_in_the_rate_limit(service_settings: Settings, tmp_path: Path) -> None:
    with service(settings_in(service_settings, tmp_path, rate_limit="2/hour")) as limited:
        codes = [send(limited, files()).status_code for _ in range(3)]
    assert codes == [201, 201, 429]


def test_a_key_has_a_quota_of_unfinished_jobs(service_settings: Settings, tmp_path: Path) -> None:
    with service(settings_in(service_settings, tmp_path, max_jobs=1)) as limited:
        first = begin(limited, 3)
        wait_until_done(limited, first["id"])
        second = begin(limited, 3)  # the first is finished
        limited.post(f"/v1/jobs/{second['id']}/pause")
        state = limited.get(f"/v1/jobs/{second['id']}").json()["state"]
        response = send(limited, files())
        if state == "paused":
            assert (response.status_code, response.json()["title"]) == (429, "Too many jobs")


def test_a_key_has_a_quota_of_disk(service_settings: Settings, tmp_path: Path) -> None:
    with service(settings_in(service_settings, tmp_path, max_stored_bytes=10_000)) as limited:
        first = begin(limited, 12)
        wait_until_done(limited, first["id"])
        refused = send(limited, files(60))
        assert (refused.status_code, refused.json()["title"]) == (507, "Storage quota reached")
        assert limited.delete(f"/v1/jobs/{first['id']}").status_code == 204
        assert send(limited, files(12)).status_code == 201
