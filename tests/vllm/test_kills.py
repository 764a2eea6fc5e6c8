"""`kill -9` on each process of a service on a real vLLM, in the middle of sixteen requests."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.vllm.served_drafts import Served, is_alive, served, wait_for
from tests.vllm.walkthrough import PASSAGE

REQUESTS = 16


@pytest.fixture(scope="module")
def restartable(
    models: Path, vllm_python: str, adapters: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("restartable")
    words = [f"--adapter=copier={adapters / 'copier'}"]
    with served(models, *words, vllm_python=vllm_python, adapters=adapters, home=home) as service:
        yield service


async def kill_under_load(service: Served, pid: int) -> list[httpx2.Response | httpx2.HTTPError]:
    """The response or error of each client."""
    passages = [PASSAGE | {"model": "copier", "seed": seed} for seed in range(REQUESTS)]
    async with httpx2.AsyncClient(base_url=service.address, timeout=300) as client:
        tasks = [asyncio.create_task(_ask(client, passage)) for passage in passages]
        while "ape_queue_passages 16.0" not in (await client.get("/metrics")).text:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)  # into the middle of the generation
        os.kill(pid, signal.SIGKILL)
        return list(await asyncio.gather(*tasks))


async def _ask(client: httpx2.AsyncClient, passage: dict[str, object]) -> httpx2.Response | httpx2.HTTPError:
    try:
        return await client.post("/v1/post-edit", json=passage)
    except httpx2.HTTPError as error:
        return error


@pytest.mark.parametrize("what", ["api", "core"])
def test_a_process_of_vllm_is_killed_and_the_service_recovers(what: str, restartable: Served) -> None:
    before = restartable.family
    logged, restarts = len(restartable.requests), _restarts(restartable)
    outcomes = asyncio.run(kill_under_load(restartable, restartable.vllm(what)))
    statuses = Counter(one.status_code if isinstance(one, httpx2.Response) else str(one) for one in outcomes)
    print(f"kill -9 of vLLM's {what}: {dict(statuses)}")
    for answer in outcomes:
        assert isinstance(answer, httpx2.Response)
        assert answer.status_code in (200, 502, 503)
        assert answer.status_code == 200 or "retry-after" in answer.headers
    with restartable.client() as client:
        wait_for(lambda: client.get("/readyz").status_code == 200, seconds=300)
        again = client.post("/v1/post-edit", json=PASSAGE | {"model": "copier"})
    assert (again.status_code, again.json()["post_edit"]) == (200, PASSAGE["mt"])
    assert _restarts(restartable) == restarts + 1
    assert any("Restarting it in" in line for line in restartable.said)
    wait_for(lambda: len(_ids(restartable, logged)) >= REQUESTS + 1)
    assert len(_ids(restartable, logged)) == len(set(_ids(restartable, logged))) == REQUESTS + 1
    assert not any(is_alive(pid) for pid in before[1:])  # no old process is left


def test_readiness_goes_red_and_green_again(restartable: Served) -> None:
    with restartable.client() as client:
        assert client.get("/readyz").status_code == 200
        os.kill(restartable.vllm("api"), signal.SIGKILL)
        wait_for(lambda: client.get("/readyz").status_code == 503)
        red = client.get("/readyz")
        assert int(red.headers["retry-after"]) >= 1
        # A refused connection is noticed before the end of the process.
        wait_for(lambda: "ape_engine_up 0.0" in client.get("/metrics").text)
        wait_for(lambda: client.get("/readyz").status_code == 200, seconds=300)


def test_our_own_process_is_killed_and_nothing_is_left(restartable: Served) -> None:
    family = restartable.family
    assert len(family) >= 4
    outcomes = asyncio.run(kill_under_load(restartable, restartable.process.pid))
    print(f"kill -9 of ours: {dict(Counter(type(one).__name__ for one in outcomes))}")
    assert all(isinstance(one, httpx2.HTTPError) for one in outcomes)
    wait_for(lambda: not any(is_alive(pid) for pid in family[1:]), seconds=60)


def _ids(service: Served, after: int) -> list[str]:
    return [line["id"] for line in service.requests[after:] if line["path"] == "/v1/post-edit"]


def _restarts(service: Served) -> int:
    with service.client() as client:
        return int(client.get("/readyz").json()["restarts"])
