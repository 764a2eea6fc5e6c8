"""Start, refusal to start, and shutdown of `ape serve` as a process."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2
import pytest

from tests.scripted import Hang, Say, ScriptedServer, translation_in
from tests.serve.book_library import LANGUAGES, files
from tests.serve.conftest import Serve, command

pytestmark = pytest.mark.subprocess

PASSAGE = {"source": "Claire posa son sac.", "mt": "Claire posed his bag.", "max_attempts": 1}
GOOD = "Claire put down her bag."
STDERR_PATTERNS = [
    r"Starting on http://127\.0\.0\.1:\d+: opening the engine …",
    r"Ready on http://127\.0\.0\.1:\d+/v1/post-edit",
    r"Stopped\.",
]
Until = Callable[..., Awaitable[None]]
signals = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])


@signals
async def test_a_request_under_way_is_finished_first(
    number: signal.Signals, serve: Serve, scripted: ScriptedServer, until: Until
) -> None:
    scripted.play(Say(GOOD, pause=0.5))  # two chunks: the signal comes between them
    service = serve("--url", scripted.url)
    async with httpx2.AsyncClient(timeout=300) as client:
        asking = asyncio.create_task(client.post(f"{service.address}/v1/post-edit", json=PASSAGE))
        await until(lambda: scripted.active)
        service.stop(number)
        response = await asking
    assert response.json()["post_edit"] == GOOD
    assert service.end() == 0
    assert not service.is_listening()
    (line,) = map(json.loads, service.requests)
    assert (line["id"], line["status"], line["decisions"]) == (response.headers["x-request-id"], 200, {"edited": 1})
    assert all(
        re.fullmatch(line, stderr) for line, stderr in zip(STDERR_PATTERNS, service.stderr_lines, strict=True)
    ), service.stderr_lines


def test_a_stream_under_way_is_finished_first(serve: Serve, scripted: ScriptedServer) -> None:
    scripted.play(Say(GOOD, pause=0.5))
    service = serve("--url", scripted.url)
    url, accept = f"{service.address}/v1/post-edit", {"Accept": "text/event-stream"}
    events = []
    with httpx2.stream("POST", url, json=PASSAGE, headers=accept, timeout=300) as response:
        for line in response.iter_lines():
            if line.startswith("event: "):
                events.append(line.removeprefix("event: "))
            if events == ["attempt", "token"] and not line:
                service.stop(signal.SIGTERM)
    assert events[-2:] == ["result", "end"]
    assert service.end() == 0
    assert len(service.stderr_lines) == len(STDERR_PATTERNS)


@signals
def test_told_to_stop_as_soon_as_it_is_ready_it_stops(
    number: signal.Signals, serve: Serve, scripted: ScriptedServer
) -> None:
    service = serve("--url", scripted.url)
    service.stop(number)
    assert service.end() == 0


def test_told_to_stop_while_vllm_starts_it_leaves_nothing(tmp_path: Path, environment: dict[str, str]) -> None:
    from tests.ape.adapters.making import make_base
    from tests.serve.fake_vllm import Fake

    fake = Fake(tmp_path)
    fake.set(never_healthy=True)
    words = command("--port", "0", "--engine", "vllm", "--model", str(make_base(tmp_path / "tiny")))
    process = subprocess.Popen(
        words,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment | {"APE_VLLM_PYTHON": str(fake.python), "APE_CACHE": str(tmp_path / "cache")},
    )
    assert process.stderr
    stderr = process.stderr.readline()
    deadline = time.monotonic() + 300
    while not fake.lives:
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGTERM)
    stderr += process.communicate(timeout=300)[1]
    assert process.returncode == 0, stderr
    assert stderr.splitlines()[-1] == "Stopped."
    assert not Path(f"/proc/{fake.life.api}").exists()
    assert list((tmp_path / "cache" / "adapters").iterdir()) == []


def test_without_a_stdout_it_serves_all_the_same(
    tmp_path: Path, environment: dict[str, str], scripted: ScriptedServer
) -> None:
    words = " ".join(command("--port", "0", "--url", scripted.url))
    with subprocess.Popen(
        ["sh", "-c", f"exec {words} >&-"], stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
    ) as process:
        assert process.stderr
        process.stderr.readline()
        found = re.search(r"http://[\d.:]+\d", process.stderr.readline())
        assert found
        assert httpx2.post(f"{found.group()}/v1/post-edit", json=PASSAGE, timeout=300).status_code == 200
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=300)
    assert process.returncode == 0


async def test_a_second_interrupt_does_not_wait(serve: Serve, scripted: ScriptedServer, until: Until) -> None:
    scripted.play(Hang())
    service = serve("--url", scripted.url)
    async with httpx2.AsyncClient(timeout=300) as client:
        asking = asyncio.create_task(client.post(f"{service.address}/v1/post-edit", json=PASSAGE))
        await until(lambda: scripted.requests)
        service.stop(signal.SIGINT)
        await until(lambda: not service.is_listening())
        service.stop(signal.SIGINT)
        response = await asking
    assert (response.status_code, response.json()["mt"]) == (503, PASSAGE["mt"])
    assert service.end() == 0
    await until(lambda: scripted.hung_up == 1)


async def test_a_job_and_who_listens_to_it_do_not_keep_it(
    serve: Serve, environment: dict[str, str], scripted: ScriptedServer, until: Until
) -> None:
    """The paragraph in progress is finished, and the job is resumed after the restart."""
    environment["APE_DRAIN_SECONDS"] = "50"
    scripted.script = lambda request, turn: Say(translation_in(request), pause=0.05)
    service = serve("--url", scripted.url)
    async with httpx2.AsyncClient(base_url=service.address, timeout=300) as client:
        sent = await client.post("/v1/books", files=files(30), data=LANGUAGES)
        job = sent.json()["id"]
        async with client.stream("GET", f"/v1/jobs/{job}/events") as response:
            events = response.aiter_lines()
            assert await anext(events) == "event: progress"
            await until(lambda: len(scripted.requests) > 2)
            began = time.monotonic()
            service.stop(signal.SIGTERM)
            heard = [line async for line in events]
    assert "event: end" not in heard
    assert service.end() == 0
    assert time.monotonic() - began < 40  # less than the drain time
    before_restart = len(scripted.requests)
    assert before_restart < 30
    again = serve("--url", scripted.url)
    async with httpx2.AsyncClient(base_url=again.address, timeout=300) as client:

        async def is_done() -> bool:
            return bool((await client.get(f"/v1/jobs/{job}")).json()["state"] == "done")

        await until(is_done, seconds=60)
    assert len(scripted.requests) == 30  # none lost, none requested twice


def test_the_embedded_engine_stops_with_it(serve: Serve, smollm2: Path) -> None:
    service = serve("--model", str(smollm2))
    response = httpx2.post(f"{service.address}/v1/post-edit", json=PASSAGE, timeout=300)
    assert response.json()["decision"] in ("edited", "unchanged", "rejected")
    assert service.children == []
    service.stop(signal.SIGINT)
    assert service.end() == 0
    assert len(service.stderr_lines) == len(STDERR_PATTERNS), service.stderr_lines


def refused(words: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words), capture_output=True, text=True, cwd=folder, env=environment, timeout=300, check=False
    )


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path, environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = refused(["--port", str(port), "--url", "http://127.0.0.1:9/v1"], tmp_path, environment)
    assert done.returncode == 2
    assert done.stderr.startswith(f"ape: The service can't listen on 127.0.0.1:{port} (Address already in use).")
    assert done.stderr.count("\n") == 1


def test_a_second_service_on_the_same_port_is_refused(
    serve: Serve, scripted: ScriptedServer, tmp_path: Path, environment: dict[str, str]
) -> None:
    service = serve("--url", scripted.url)
    port = service.address.rpartition(":")[2]
    done = refused(["--port", port, "--url", scripted.url], tmp_path, environment)
    assert done.returncode == 2
    assert "Is another one running there?" in done.stderr


def test_the_open_network_without_a_key_is_one_sentence(tmp_path: Path, environment: dict[str, str]) -> None:
    done = refused(["--host", "0.0.0.0", "--url", "http://127.0.0.1:9/v1"], tmp_path, environment)
    assert done.returncode == 2
    assert "APE_API_KEYS" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("variable", ["APE_JOBS", "APE_UPLOADS"])
def test_a_place_that_can_not_be_used_is_one_sentence(
    variable: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "broken").write_bytes(b"This is neither a database nor a folder. " * 100)
    place = environment | {variable: str(tmp_path / "broken")}
    done = refused(["--port", "0", "--url", "http://127.0.0.1:9/v1"], tmp_path, place)
    assert done.returncode in (1, 2)
    assert [line[:4] for line in done.stderr.splitlines()] == ["Star", "ape:"], done.stderr
    assert str(tmp_path / "broken") in done.stderr


def test_a_model_that_can_not_be_loaded_is_one_sentence(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(100))
    done = refused(["--port", "0", "--model", "broken.gguf"], tmp_path, environment)
    assert done.returncode == 1
    assert [line[:4] for line in done.stderr.splitlines()] == ["Star", "ape:"], done.stderr
