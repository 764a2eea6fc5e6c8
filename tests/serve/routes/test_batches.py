"""Files and batches over HTTP, with the client of OpenAI's batch API."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai.types import Batch

from ape.settings import Settings
from tests.scripted import Fail, Hang, Say, ScriptedServer
from tests.serve.book_library import sentences, service, settings_in

ENDPOINT: Any = "/v1/post-edit"  # the client's types list OpenAI's own endpoints only
KEYS = ("the first key of batches", "the second key of batches")


@pytest.fixture(scope="module")
def settings(service_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings_in(service_settings, tmp_path_factory.mktemp("service"), max_body_bytes=20_000)


@pytest.fixture(scope="module")
def shared_client(settings: Settings) -> Iterator[httpx2.Client]:
    with service(settings) as client:
        yield client


@pytest.fixture
def client(shared_client: httpx2.Client, scripted: ScriptedServer) -> openai.OpenAI:
    """OpenAI's client, with a service whose model returns the MT as it is."""
    return as_openai(shared_client)


def as_openai(client: httpx2.Client, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{client.base_url}/v1", api_key=key, max_retries=0)


def line(number: int, **changes: Any) -> dict[str, Any]:
    source, mt = sentences(number + 1)[-1]
    body = {"source": source, "mt": mt, "source_language": "fr", "target_language": "en"}
    return {"custom_id": f"line-{number}", "method": "POST", "url": ENDPOINT, "body": body} | changes


def upload(client: openai.OpenAI, *lines: dict[str, Any] | str) -> str:
    text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)
    return client.files.create(file=("requests.jsonl", text.encode()), purpose="batch").id


def begin(client: openai.OpenAI, *lines: dict[str, Any] | str) -> Batch:
    return client.batches.create(input_file_id=upload(client, *lines), endpoint=ENDPOINT, completion_window="24h")


def wait_until_over(client: openai.OpenAI, id: str) -> Batch:
    deadline = time.monotonic() + 300
    while (batch := client.batches.retrieve(id)).status not in ("completed", "failed", "cancelled"):
        assert time.monotonic() < deadline, batch
        time.sleep(0.02)
    return batch


@contextmanager
def refused(kind: type[openai.APIStatusError], message: str) -> Iterator[None]:
    """Expect an error of that kind with problem details that say so."""
    with pytest.raises(kind) as caught:
        yield
    assert message in str(caught.value.body)


def rows(client: openai.OpenAI, file: str | None) -> list[dict[str, Any]]:
    assert file
    return [json.loads(row) for row in client.files.content(file).text.splitlines()]


def test_a_batch_is_answered_line_by_line_in_the_order_of_the_file(client: openai.OpenAI) -> None:
    begun = begin(client, *(line(number) for number in range(5)))
    assert begun.status == "validating"
    batch = wait_until_over(client, begun.id)
    assert batch.status == "completed"
    assert batch.request_counts
    assert batch.request_counts.to_dict() == {"total": 5, "completed": 5, "failed": 0}
    assert batch.error_file_id is None
    assert batch.in_progress_at
    assert batch.completed_at
    answers = rows(client, batch.output_file_id)
    assert [answer["custom_id"] for answer in answers] == [f"line-{number}" for number in range(5)]
    assert [answer["response"]["body"]["decision"] for answer in answers] == ["unchanged"] * 5
    assert {answer["response"]["status_code"] for answer in answers} == {200}


def test_requests_that_fail_are_in_the_error_file_with_their_problem(client: openai.OpenAI) -> None:
    wrong = line(1, body={"source": "Bonjour.", "mt": "Hello.", "temperature": 99})
    batch = wait_until_over(client, begin(client, line(0), wrong).id)
    assert batch.status == "completed"
    assert [row["custom_id"] for row in rows(client, batch.output_file_id)] == ["line-0"]
    (failed,) = rows(client, batch.error_file_id)
    assert failed["custom_id"] == "line-1"
    assert failed["response"]["status_code"] == 422
    assert failed["response"]["body"]["field"] == "temperature"


def test_a_model_server_that_refuses_is_an_error_row_with_the_mt_whole(
    client: openai.OpenAI, scripted: ScriptedServer
) -> None:
    scripted.play(Fail(400))
    batch = wait_until_over(client, begin(client, line(0)).id)
    (failed,) = rows(client, batch.error_file_id)
    assert failed["response"]["status_code"] == 502
    assert failed["response"]["body"]["mt"] == line(0)["body"]["mt"]
    assert batch.output_file_id is None


@pytest.mark.parametrize(
    ("wrong", "code", "number"),
    [
        ("not JSON", "invalid_json_line", 2),
        (line(0), "duplicate_custom_id", 2),
        (line(1, url="/v1/chat/completions"), "invalid_url", 2),
        (line(1, method="GET"), "invalid_url", 2),
        ({"custom_id": "x", "method": "POST", "url": ENDPOINT}, "invalid_request", 2),
        (json.dumps(line(1, body={"source": "a" * 30_000, "mt": "b"})), "line_too_long", 2),
        ("[" * 100_000, "line_too_long", 2),
        ("[" * 19_000, "invalid_json_line", 2),
    ],
)
def test_a_file_with_a_wrong_line_fails_whole_and_names_the_line(
    client: openai.OpenAI, scripted: ScriptedServer, wrong: dict[str, Any] | str, code: str, number: int
) -> None:
    scripted.requests.clear()
    batch = wait_until_over(client, begin(client, line(0), wrong, line(2)).id)
    assert batch.status == "failed"
    assert batch.errors
    assert batch.errors.data
    assert [(error.code, error.line) for error in batch.errors.data] == [(code, number)]
    assert not scripted.requests


def test_an_empty_file_fails(client: openai.OpenAI) -> None:
    batch = wait_until_over(client, begin(client, "\n\n").id)
    assert batch.errors
    assert batch.errors.data
    assert batch.errors.data[0].code == "empty_file"


def test_a_cancelled_batch_keeps_the_answers_it_has(client: openai.OpenAI, scripted: ScriptedServer) -> None:
    first = line(0)["body"]["mt"]
    scripted.script = lambda request, turn: Say(first) if first in json.dumps(request) else Hang()
    begun = begin(client, *(line(number) for number in range(30)))
    deadline = time.monotonic() + 300
    while not (client.batches.retrieve(begun.id).request_counts or begun).completed:  # type: ignore[union-attr]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert client.batches.cancel(begun.id).status in ("cancelling", "cancelled")
    batch = wait_until_over(client, begun.id)
    assert batch.status == "cancelled"
    assert [row["custom_id"] for row in rows(client, batch.output_file_id)] == ["line-0"]
    with refused(openai.ConflictError, "nothing to cancel"):
        client.batches.cancel(begun.id)


def test_files_are_listed_read_and_deleted(client: openai.OpenAI) -> None:
    ids = [upload(client, line(number)) for number in range(3)]
    assert [file.id for file in client.files.list(limit=2)][:3] == ids[::-1]
    assert client.files.retrieve(ids[0]).filename == "requests.jsonl"
    assert json.loads(client.files.content(ids[0]).text) == line(0)
    assert client.files.delete(ids[0]).deleted
    with pytest.raises(openai.NotFoundError):
        client.files.content(ids[0])


def test_batches_are_listed_newest_first_in_pages(client: openai.OpenAI) -> None:
    ids = [wait_until_over(client, begin(client, line(number)).id).id for number in range(3)]
    assert [batch.id for batch in client.batches.list(limit=2)][:3] == ids[::-1]


def test_a_file_of_answers_is_no_input(client: openai.OpenAI) -> None:
    batch = wait_until_over(client, begin(client, line(0)).id)
    with refused(openai.UnprocessableEntityError, "file of answers"):
        client.batches.create(input_file_id=batch.output_file_id or "", endpoint=ENDPOINT, completion_window="24h")


def test_a_file_that_a_batch_reads_is_not_deleted(client: openai.OpenAI, scripted: ScriptedServer) -> None:
    scripted.play(Hang())
    begun = begin(client, line(0))
    with refused(openai.ConflictError, "reads this file"):
        client.files.delete(begun.input_file_id)
    client.batches.cancel(begun.id)
    wait_until_over(client, begun.id)


@pytest.mark.parametrize("last", ["", json.dumps({"custom_id": "a"})])
def test_a_file_of_blank_lines_is_refused_before_it_is_read(client: openai.OpenAI, last: str) -> None:
    batch = wait_until_over(client, begin(client, "\n" * 100_000 + last).id)
    assert batch.status == "failed"
    assert batch.errors
    assert batch.errors.data
    assert [error.code for error in batch.errors.data] == ["too_many_lines"]


@pytest.mark.parametrize("purpose", ["fine-tune", "batch_output"])
def test_other_purposes_are_refused(client: openai.OpenAI, purpose: Any) -> None:
    with refused(openai.UnprocessableEntityError, "purpose"):
        client.files.create(file=("a.jsonl", b"{}"), purpose=purpose)


def test_one_key_never_sees_the_files_and_batches_of_another(
    service_settings: Settings, scripted: ScriptedServer, tmp_path: Path
) -> None:
    with service(settings_in(service_settings, tmp_path, api_keys=KEYS)) as http:
        mine, other = (as_openai(http, key) for key in KEYS)
        batch = wait_until_over(mine, begin(mine, line(0)).id)
        for attempt in (
            lambda: other.batches.retrieve(batch.id),
            lambda: other.batches.cancel(batch.id),
            lambda: other.files.content(batch.output_file_id or ""),
            lambda: other.files.delete(batch.input_file_id),
            lambda: other.batches.create(input_file_id=batch.input_file_id, endpoint=ENDPOINT, completion_window="24h"),
        ):
            with pytest.raises(openai.NotFoundError):
                attempt()
        assert not list(other.batches.list())
        assert not list(other.files.list())


def test_a_restarted_service_asks_only_what_has_no_answer(
    service_settings: Settings, scripted: ScriptedServer, tmp_path: Path
) -> None:
    settings = settings_in(service_settings, tmp_path)
    answered = [line(number)["body"]["mt"] for number in range(3)]

    def first_three(request: dict[str, Any], _: int) -> Say | Hang:
        found = [mt for mt in answered if mt in json.dumps(request)]
        return Say(found[0]) if found else Hang()

    scripted.script = first_three
    with service(settings) as http:
        client = as_openai(http)
        begun = begin(client, *(line(number) for number in range(6)))
        deadline = time.monotonic() + 300
        while (counts := client.batches.retrieve(begun.id).request_counts) and counts.completed < 3:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    scripted.play(Say(line(3)["body"]["mt"]), Say(line(4)["body"]["mt"]), Say(line(5)["body"]["mt"]))
    with service(settings) as http:
        client = as_openai(http)
        batch = wait_until_over(client, begun.id)
        assert batch.status == "completed"
        assert len(rows(client, batch.output_file_id)) == 6
    assert not any(mt in json.dumps(request) for request in scripted.requests for mt in answered)


def test_a_wish_that_files_expire_is_accepted(client: openai.OpenAI) -> None:
    file = client.files.create(
        file=("requests.jsonl", json.dumps(line(0)).encode()),
        purpose="batch",
        expires_after={"anchor": "created_at", "seconds": 3600},
    )
    batch = client.batches.create(
        input_file_id=file.id,
        endpoint=ENDPOINT,
        completion_window="24h",
        output_expires_after={"anchor": "created_at", "seconds": 3600},
    )
    assert wait_until_over(client, batch.id).status == "completed"


def together(count: int, call: Callable[[], int]) -> list[int]:
    """The answers of calls that are made at the same time."""
    with ThreadPoolExecutor(count) as threads:
        return sorted(threads.map(lambda _: call(), range(count)))


def test_files_sent_at_the_same_time_stay_within_the_quota(service_settings: Settings, tmp_path: Path) -> None:
    content = json.dumps(line(0)).encode() + b" " * 4_000
    with service(settings_in(service_settings, tmp_path, max_stored_bytes=10_000)) as client:

        def send() -> int:
            parts = {"file": ("a.jsonl", content)}
            return client.post("/v1/files", files=parts, data={"purpose": "batch"}).status_code

        assert 200 in together(8, send)
        assert sum(one["bytes"] for one in client.get("/v1/files").json()["data"]) <= 10_000
        assert send() == 507


def test_batches_begun_at_the_same_time_stay_within_the_quota(
    service_settings: Settings, tmp_path: Path, scripted: ScriptedServer
) -> None:
    scripted.script = lambda request, turn: Hang()
    with service(settings_in(service_settings, tmp_path, max_jobs=2)) as client:
        file = upload(as_openai(client), line(0))

        def send() -> int:
            begun = {"input_file_id": file, "endpoint": ENDPOINT, "completion_window": "24h"}
            return client.post("/v1/batches", json=begun).status_code

        assert together(8, send) == [200, 200, *[429] * 6]
