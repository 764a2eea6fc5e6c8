"""The service on a real vLLM, as a user runs it."""

from __future__ import annotations

import json
import os
import re
import resource
from pathlib import Path

import httpx2
import pytest

from prompts import CHAT, SEP
from tests.vllm.served_drafts import Served, served, wait_for
from tests.vllm.walkthrough import PASSAGE, walk


def test_models_are_listed_with_what_their_cards_say(service: Served) -> None:
    with service.client() as client:
        listed = {model["name"]: model for model in client.get("/v1/models").json()["models"]}
    assert {name: model["kind"] for name, model in listed.items()} == {
        "base": "base",
        "copier": "adapter",
        "rambler": "adapter",
    }
    assert listed["copier"]["prompt"] == SEP.fingerprint
    assert listed["rambler"]["prompt"] == CHAT.fingerprint
    assert {model["window"] for model in listed.values()} == {2048}
    assert listed["copier"]["adapter"]["rank"] == 8
    assert listed["copier"]["adapter"]["languages"] == ["fr-en"]


def test_each_model_is_asked_in_its_own_format_and_answers_for_itself(service: Served) -> None:
    with service.client() as client:
        answers = {
            name: client.post("/v1/post-edit", json=PASSAGE | {"model": name}).json()
            for name in ("base", "copier", "rambler", "default")
        }
    assert {name: answer["prompt"].partition("@")[0] for name, answer in answers.items()} == {
        "base": "chat",
        "copier": "sep",
        "rambler": "chat",
        "default": "chat",
    }
    # It was trained to return the MT, in the sep format only.
    assert (answers["copier"]["decision"], answers["copier"]["post_edit"]) == ("unchanged", PASSAGE["mt"])
    assert answers["default"]["post_edit"] == answers["base"]["post_edit"]


def test_several_candidates_are_drawn_and_one_is_kept(service: Served) -> None:
    with service.client() as client:
        answer = client.post("/v1/post-edit", json=PASSAGE | {"model": "copier", "n": 3}).json()
        first = client.post("/v1/post-edit", json=PASSAGE | {"model": "copier"}).json()
    assert answer["attempt"] in (1, 2, 3)
    assert answer["usage"]["prompt_tokens"] == 3 * first["usage"]["prompt_tokens"]


def test_the_id_of_a_request_is_in_the_log_of_vllm(service: Served) -> None:
    with service.client() as client:
        answer = client.post("/v1/post-edit", json=PASSAGE, headers={"X-Request-Id": "seen-everywhere"})
    assert answer.headers["x-request-id"] == "seen-everywhere"
    # Both logs arrive through pipes, with a delay.
    wait_for(lambda: any(line["id"] == "seen-everywhere" for line in list(service.requests)))
    wait_for(lambda: any("seen-everywhere." in line for line in list(service.said) if line.startswith("vllm | ")))


def test_a_passage_that_does_not_fit_is_told_with_the_numbers(service: Served) -> None:
    words = " ".join(f"word{number}" for number in range(900))
    with service.client() as client:
        answer = client.post("/v1/post-edit", json=PASSAGE | {"source": words, "mt": words + "."})
    assert answer.status_code == 413
    assert answer.json()["actual"] > answer.json()["limit"] == 2048


def test_the_numbers_of_the_service_and_of_vllm_are_there(service: Served) -> None:
    with service.client() as client:
        ours, theirs = client.get("/metrics").text, client.get("/metrics/engine").text
    assert re.search(r"^ape_engine_up 1\.0$", ours, re.MULTILINE)
    assert re.search(r'^ape_passages_total\{decision="unchanged",model="copier"\} [1-9]', ours, re.MULTILINE)
    assert re.search(r"^vllm:generation_tokens_total\{.*\} [1-9]", theirs, re.MULTILINE)


def test_vllm_is_on_loopback_behind_a_key_that_no_list_of_processes_shows(service: Served) -> None:
    root = service.vllm_url.removesuffix("/v1")
    for path in ("/v1/models", "/metrics", "/version"):
        assert httpx2.get(root + path).status_code == 401, path
    for path in ("/v1/load_lora_adapter", "/adapters", "/invocations", "/tokenize"):
        assert httpx2.post(root + path, json={}).status_code == 401, path
    lines = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in service.family]
    assert not any(service.vllm_key.encode() in line for line in lines)
    assert service.vllm_key not in "\n".join(service.said)


def test_a_damaged_adapter_never_reaches_vllm_and_the_others_go_on(service: Served, adapters: Path) -> None:
    place = adapters / "damaged"
    place.mkdir()
    for path in (adapters / "copier").iterdir():
        (place / path.name).write_bytes(path.read_bytes()[: -100 if path.suffix == ".safetensors" else None])
    said = len(service.said)
    with service.client() as client:
        answer = client.post("/v1/models", json={"name": "damaged"})
        assert (answer.status_code, "is damaged" in answer.json()["detail"]) == (422, True)
        assert client.post("/v1/post-edit", json=PASSAGE | {"model": "copier"}).status_code == 200
    assert not any("load_lora_adapter" in line for line in service.said[said:])


def test_without_memory_for_one_more_adapter_the_others_go_on(service: Served, adapters: Path) -> None:
    """Limit the worker to its current memory, so that a real allocation fails."""
    worker = service.vllm("worker")
    size = int(Path(f"/proc/{worker}/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.prlimit(worker, resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))
    with service.client() as client:
        try:
            answer = client.post("/v1/models", json={"name": "one-more", "directory": "copier"})
        finally:
            resource.prlimit(worker, resource.RLIMIT_AS, before)
        assert answer.status_code == 507, answer.text
        assert "no memory for another adapter" in answer.json()["detail"]
        for name in ("base", "copier", "rambler"):
            assert client.post("/v1/post-edit", json=PASSAGE | {"model": name}).status_code == 200
        assert client.get("/readyz").json()["restarts"] == 0
        assert client.post("/v1/models", json={"name": "one-more", "directory": "copier"}).status_code == 201
        assert client.post("/v1/post-edit", json=PASSAGE | {"model": "one-more"}).status_code == 200
        assert client.delete("/v1/models/one-more").status_code == 204


def test_a_walk_from_the_first_adapter_to_the_last_process(
    models: Path, vllm_python: str, adapters: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(models, vllm_python=vllm_python, adapters=adapters, home=tmp_path) as service:
        walk(service)
    assert capsys.readouterr().out
    assert json.dumps(service.requests)
    assert list((tmp_path / "cache" / "adapters").iterdir()) == []
    assert os.path.isdir(adapters)  # noqa: PTH112
