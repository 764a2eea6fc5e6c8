"""A walk through a service on vLLM: load two adapters live, ask, move the alias under load, unload, stop.

    python -m tests.vllm.walkthrough MODELS VLLM_PYTHON

Prints what happens; exits with 1 where something is not as it should be.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx2

from tests.vllm.served_drafts import Served, is_alive, served, write_cards

PASSAGE = {
    "source": "Claire posa son sac et s’assit. Elle avait marché douze kilomètres.",
    "mt": "Claire posed his bag and sat down. He had marched twelve kilometers.",
    "source_language": "fr",
    "target_language": "en",
    "max_attempts": 1,
}
CLIENTS = 8
MOVES = ("copier", "rambler", "base", "copier")


def main(models: Path, vllm_python: str) -> None:
    """Run the walkthrough and report each step."""
    with tempfile.TemporaryDirectory() as folder:
        adapters = Path(folder) / "adapters"
        write_cards(models, adapters)
        began = time.monotonic()
        with served(models, vllm_python=vllm_python, adapters=adapters, home=Path(folder)) as service:
            print(f"ready after {time.monotonic() - began:.0f} s, {len(service.family)} processes")
            walk(service)


def walk(service: Served) -> None:
    """Run and check every step."""
    with service.client() as client:
        for name in ("copier", "rambler"):
            began = time.monotonic()
            loaded = client.post("/v1/models", json={"name": name})
            model = loaded.json()
            require(loaded.status_code == 201, loaded.text)
            print(
                f"loaded {name} in {time.monotonic() - began:.1f} s: {model['prompt']}, rank {model['adapter']['rank']}"
            )
        for name in ("base", "copier", "rambler"):
            answer = client.post("/v1/post-edit", json=PASSAGE | {"model": name})
            require(answer.status_code == 200 and answer.json()["model"] == name, answer.text)
            print(f"{name}: {answer.json()['decision']}: {answer.json()['post_edit']}")
        counts = asyncio.run(move_under_load(service.address))
        print(f"moved the alias {len(MOVES)} times under {CLIENTS} clients: {dict(counts)}")
        require({status for status, _ in counts} == {200}, str(counts))
        require({model for _, model in counts} >= {"copier", "rambler"}, str(counts))
        require(client.put("/v1/aliases/default", json={"model": "base"}).status_code == 200, "the alias")
        for name in ("copier", "rambler"):
            require(client.delete(f"/v1/models/{name}").status_code == 204, f"unloading {name}")
        left = [model["name"] for model in client.get("/v1/models").json()["models"]]
        print(f"unloaded both; there is: {', '.join(left)}")
        require(left == ["base"], str(left))
    family, began = service.family, time.monotonic()
    code = service.stop()
    alive = [pid for pid in family if is_alive(pid)]
    print(f"SIGTERM: exit code {code} after {time.monotonic() - began:.1f} s; {len(alive)} of {len(family)} left")
    require(code == 0 and not alive, str(alive))


async def move_under_load(address: str) -> Counter[tuple[int, str]]:
    """Send requests for the default without a pause while the alias moves."""
    seen: Counter[tuple[int, str]] = Counter()
    stop = asyncio.Event()

    async def keep_asking(client: httpx2.AsyncClient) -> None:
        while not stop.is_set():
            answer = await client.post("/v1/post-edit", json=PASSAGE)
            seen[answer.status_code, answer.json().get("model", "")] += 1

    async with httpx2.AsyncClient(base_url=address, timeout=300) as client:
        asking = [asyncio.create_task(keep_asking(client)) for _ in range(CLIENTS)]
        for model in MOVES:
            before = seen[200, model]
            moved = await client.put("/v1/aliases/default", json={"model": model})
            require(moved.status_code == 200, moved.text)
            # A passage that begins now gets the new model, even while others are in progress.
            answer = await client.post("/v1/post-edit", json=PASSAGE)
            require(answer.json().get("model") == model, answer.text)
            while seen[200, model] == before:  # noqa: ASYNC110 - until a client has had an answer of it
                await asyncio.sleep(0.05)
        stop.set()
        await asyncio.gather(*asking)
    return seen


def require(condition: bool, what: str) -> None:
    """Or stop here."""
    if not condition:
        raise SystemExit(f"not as it should be: {what}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2])
