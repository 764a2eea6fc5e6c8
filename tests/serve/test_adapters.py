"""Adapters and aliases over HTTP, on a fake vLLM with faults: clear errors, and other adapters are unaffected."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ape.edits.filter import EditFilter
from ape.engines.factory import open_engine
from ape.settings import Settings
from prompts import CHAT, SEP
from serve.app import create_app
from tests.ape.adapters.making import lora, make_adapter, make_base, write_tensors
from tests.scripted import running
from tests.serve.fake_vllm import Fake

pytestmark = pytest.mark.subprocess

PASSAGE = {"source": "Claire posa son sac.", "mt": "Claire put down her bag.", "max_attempts": 1}
Until = Callable[..., Awaitable[None]]


@dataclass
class VllmService:
    """A service on a fake vLLM, and its folder of adapters."""

    fake: Fake
    base: Path
    root: Path
    status_lines: list[str]
    log: list[str]
    client: httpx2.Client
    address: str

    def load(self, name: str, directory: str | None = None) -> httpx2.Response:
        wish = {"name": name} | ({"directory": directory} if directory else {})
        return self.client.post("/v1/models", json=wish)

    def ask(self, model: str) -> httpx2.Response:
        return self.client.post("/v1/post-edit", json=PASSAGE | {"model": model})

    def models(self) -> dict[str, dict[str, Any]]:
        return {model["name"]: model for model in self.client.get("/v1/models").json()["models"]}

    def metric(self, name: str) -> float:
        """Return the value of a metric."""
        text = self.client.get("/metrics").text
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        assert found, f"{name} is not in:\n{text}"
        return float(found.group(1))


StartService = Callable[..., VllmService]


@contextmanager
def vllm_services(folder: Path) -> Iterator[StartService]:
    """Start services with given settings; they stop at the end of the block."""
    base, root = make_base(folder / "tiny"), folder / "adapters"
    make_adapters(root, base)
    fake = Fake(folder)
    with ExitStack() as stack:

        def start(**values: Any) -> VllmService:
            settings = Settings(
                engine="vllm",
                model=str(base),
                cache=folder / "cache",
                vllm_python=fake.python,
                adapter_dirs=(root,),
                **{"retry_seconds": 20.0, **values},
            )
            status_lines: list[str] = []
            log: list[str] = []
            app = create_app(settings, open_engine(settings, log_line=status_lines.append), log=log.append)
            address = stack.enter_context(running(app))
            client = stack.enter_context(httpx2.Client(base_url=address, timeout=300))
            return VllmService(fake, base, root, status_lines, log, client, address)

        yield start


def make_adapters(root: Path, base: Path) -> None:
    for number, (name, form) in enumerate({"first": "sep", "second": "sep", "third": "chat"}.items()):
        make_adapter(root / name, base, form=form, seed=number)


@pytest.fixture
def start_service(tmp_path: Path) -> Iterator[StartService]:
    with vllm_services(tmp_path) as start:
        yield start


@pytest.fixture
def vllm_service(start_service: StartService) -> VllmService:
    return start_service()


@pytest.fixture(scope="module")
def started_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmService]:
    with vllm_services(tmp_path_factory.mktemp("shared")) as start:
        yield start()


@pytest.fixture
def shared_service(started_once: VllmService) -> VllmService:
    """A service that tests share one after the other: nothing is loaded, and its folder of adapters is new."""
    service = started_once
    service.fake.set()
    for name in list(service.models())[1:]:
        assert service.client.delete(f"/v1/models/{name}").status_code == 204
    shutil.rmtree(service.root)
    make_adapters(service.root, service.base)
    return service


def test_an_adapter_is_loaded_listed_asked_in_its_format_and_unloaded(shared_service: VllmService) -> None:
    assert list(shared_service.models()) == ["tiny"]
    loaded = shared_service.load("first")
    assert loaded.status_code == 201
    model = loaded.json()
    assert (model["name"], model["kind"], model["prompt"]) == ("first", "adapter", SEP.fingerprint)
    assert model["window"] == 2048  # the base's
    assert model["adapter"]["languages"] == ["fr-en"]
    assert model["adapter"]["parity"] == {"identical": 50, "prompts": 50}
    assert (model["adapter"]["base"], model["adapter"]["rank"]) == ("someone/tiny", 2)
    assert shared_service.load("third").json()["prompt"] == CHAT.fingerprint
    assert list(shared_service.models()) == ["tiny", "first", "third"]
    answers = {name: shared_service.ask(name).json() for name in ("tiny", "first", "third", "default")}
    assert {name: answer["model"] for name, answer in answers.items()} == {
        "tiny": "tiny", "first": "first", "third": "third", "default": "tiny",
    }  # fmt: skip
    assert [answers[name]["prompt"] for name in ("tiny", "first")] == [CHAT.fingerprint, SEP.fingerprint]
    assert shared_service.client.delete("/v1/models/first").status_code == 204
    assert list(shared_service.models()) == ["tiny", "third"]
    gone = shared_service.ask("first")
    assert (gone.status_code, gone.json()["field"]) == (404, "model")
    assert "There is: default, tiny, third." in gone.json()["detail"]


def test_its_gate_undoes_what_vllm_was_not_sure_of(shared_service: VllmService) -> None:
    """Both edits are at a token with logprobs. The end token after the second edit is not part of the draft."""
    gate = EditFilter(features={"lead": (-1.0, 1.0, 5.0), "back": (-1.0, 1.0, 5.0)}, bias=0.0, threshold=0.5)
    make_adapter(shared_service.root / "gated", shared_service.base, seed=7, gate=gate)
    for name in ("gated", "first"):
        assert shared_service.load(name).status_code == 201
    shared_service.fake.set(draft="Claire put her bag on the table.", unsure=["put"])
    passage = {"source": "Claire posa son sac.", "mt": "Claire posed her bag on the chair.", "max_attempts": 1}
    plain, gated = (
        shared_service.client.post("/v1/post-edit", json=passage | {"model": name}).json()
        for name in ("first", "gated")
    )
    assert plain["post_edit"] == "Claire put her bag on the table."
    assert gated["post_edit"] == "Claire posed her bag on the table."
    assert "undone, such as “posed” → “put”" in gated["findings"][0]["message"]


def test_a_pair_that_it_was_not_tuned_for_is_told(shared_service: VllmService) -> None:
    shared_service.load("first")
    pairs = {"fr": [], "de": ["languages"]}
    for language, guards in pairs.items():
        passage = PASSAGE | {"model": "first", "source_language": language, "target_language": "en"}
        findings = shared_service.client.post("/v1/post-edit", json=passage).json()["findings"]
        assert [finding["guard"] for finding in findings] == guards
    assert findings[0]["message"].startswith("first was tuned for fr-en, not for German to English")


def test_a_check_that_is_noted_in_the_card_does_not_make_it_another_adapter(shared_service: VllmService) -> None:
    before = shared_service.load("first").json()["adapter"]["revision"]
    card = shared_service.root / "first" / "ape.json"
    card.write_text(card.read_text().replace('"identical": 50', '"identical": 49'))
    again = shared_service.load("first")
    assert (again.status_code, again.json()["adapter"]["revision"]) == (200, before)


def test_one_can_be_there_from_the_beginning_and_be_the_default(start_service: StartService, tmp_path: Path) -> None:
    base = tmp_path / "tiny"
    place = make_adapter(tmp_path / "elsewhere", base, rank=4)
    vllm_service = start_service(adapters={"mine": place}, aliases={"default": "mine"})
    assert vllm_service.ask("default").json()["model"] == "mine"
    assert next(iter(vllm_service.models())) == "mine"
    arguments = vllm_service.fake.life.arguments
    assert arguments[arguments.index("--max-lora-rank") + 1] == "8"


def test_it_goes_under_another_name_and_from_a_folder_within(shared_service: VllmService) -> None:
    make_adapter(shared_service.root / "par3" / "v2", shared_service.base, seed=9)
    assert shared_service.load("par3-v2", "par3/v2").status_code == 201
    assert shared_service.ask("par3-v2").json()["model"] == "par3-v2"


def test_the_original_may_be_overwritten_while_it_is_served(shared_service: VllmService) -> None:
    first = shared_service.load("first").json()
    write_tensors(shared_service.root / "first" / "adapter_model.safetensors", lora(seed=77))
    again = shared_service.load("first")
    assert (again.status_code, again.json()["title"]) == (409, "Conflict")
    assert first["adapter"]["revision"] in again.json()["detail"]
    assert shared_service.load("newer", "first").status_code == 201
    listed = shared_service.models()
    assert listed["first"]["adapter"]["revision"] == first["adapter"]["revision"]
    assert listed["newer"]["adapter"]["revision"] != first["adapter"]["revision"]


def corrupt(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


REFUSED: dict[str, tuple[Callable[[VllmService], object], dict[str, str], int, str]] = {
    "missing": (lambda service: None, {"name": "nowhere"}, 422, "no adapter directory 'nowhere'"),
    "outside": (lambda service: None, {"name": "x", "directory": "/etc"}, 422, "no adapter directory"),
    "above": (lambda service: None, {"name": "x", "directory": "../elsewhere"}, 422, "no adapter directory"),
    "by symlink": (
        lambda service: (service.root / "link").symlink_to(service.base),
        {"name": "link"},
        422,
        "links that lead out of them are not followed",
    ),
    "corrupt": (
        lambda service: corrupt(service.root / "second" / "adapter_model.safetensors"),
        {"name": "second"},
        422,
        "adapter_model.safetensors is damaged",
    ),
    "wrong base": (
        lambda service: make_adapter(service.root / "other", make_base(service.base.parent / "b2", seed=5)),
        {"name": "other"},
        422,
        "another model",
    ),
    "rank": (
        lambda service: make_adapter(service.root / "wide", service.base, rank=24),
        {"name": "wide"},
        422,
        "rank 24, and vLLM was started for ranks up to 8",
    ),
    "format": (
        lambda service: (service.root / "second" / "ape.json").write_text(
            (service.root / "second" / "ape.json").read_text().replace(SEP.fingerprint, "sep@0123456789ab")
        ),
        {"name": "second"},
        422,
        "prompts would differ from those of its training",
    ),
    "no card": (
        lambda service: (service.root / "second" / "ape.json").unlink(),
        {"name": "second"},
        422,
        "no ape.json",
    ),
    "the base's name": (lambda service: None, {"name": "tiny", "directory": "first"}, 409, "name of the base"),
    "too long": (lambda service: None, {"name": "x", "directory": "y" * 300}, 422, "no adapter directory"),
    "a loop of links": (
        lambda service: (service.root / "loop").symlink_to(service.root / "loop"),
        {"name": "loop"},
        422,
        "no adapter directory",
    ),
    "default": (lambda service: None, {"name": "default", "directory": "first"}, 409, "Choose another"),
    "memory": (
        lambda service: service.fake.set(
            load_error="DefaultCPUAllocator: can't allocate memory: you tried to allocate"
        ),
        {"name": "second"},
        507,
        "no memory for another adapter",
    ),
    "vLLM will not": (
        lambda service: service.fake.set(load_error="no room for LoRA rank 8 in Bloom", load_status=400),
        {"name": "second"},
        502,
        "vLLM could not load the adapter second: no room for LoRA rank 8 in Bloom",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_adapter_is_refused_with_the_reason_and_the_others_go_on(shared_service: VllmService, case: str) -> None:
    spoil, wish, status, sentence = REFUSED[case]
    outcome = "failed" if status in (502, 507) else "refused"
    metric = f'ape_adapter_loads_total{{outcome="{outcome}"}}'
    before = shared_service.metric(metric)
    assert shared_service.load("first").status_code == 201
    spoil(shared_service)
    answer = shared_service.client.post("/v1/models", json=wish)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert sentence in answer.json()["detail"]
    assert list(shared_service.models()) == ["tiny", "first"]
    assert shared_service.ask("first").json()["decision"] == "unchanged"
    assert shared_service.metric(metric) == before + 1
    shared_service.fake.set()
    assert shared_service.load("third").status_code == 201


def test_no_more_than_so_many_are_loaded(start_service: StartService) -> None:
    vllm_service = start_service(max_adapters=1)
    assert vllm_service.load("first").status_code == 201
    full = vllm_service.load("second")
    assert (full.status_code, "Unload one first" in full.json()["detail"]) == (507, True)
    vllm_service.client.delete("/v1/models/first")
    assert vllm_service.load("second").status_code == 201


async def test_two_clients_that_load_the_same_both_get_it(vllm_service: VllmService) -> None:
    vllm_service.fake.set(answer_delay=0.3)
    async with httpx2.AsyncClient(base_url=vllm_service.address, timeout=300) as client:
        answers = await asyncio.gather(*(client.post("/v1/models", json={"name": "first"}) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
    assert len({json.dumps(answer.json()["adapter"]["revision"]) for answer in answers}) == 1
    assert vllm_service.metric('ape_adapter_loads_total{outcome="loaded"}') == 1


async def test_a_client_that_hangs_up_does_not_leave_half_an_adapter(shared_service: VllmService, until: Until) -> None:
    shared_service.fake.set(answer_delay=0.5)
    async with httpx2.AsyncClient(base_url=shared_service.address, timeout=300) as client:
        loading = asyncio.create_task(client.post("/v1/models", json={"name": "first"}))
        await asyncio.sleep(0.2)
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)
    await until(lambda: "first" in shared_service.models())
    shared_service.fake.set()
    assert shared_service.ask("first").status_code == 200


async def test_one_in_use_is_unloaded_when_its_passages_are_finished(shared_service: VllmService, until: Until) -> None:
    shared_service.load("first")
    shared_service.fake.set(pause=0.4)
    async with httpx2.AsyncClient(base_url=shared_service.address, timeout=300) as client:
        asking = asyncio.create_task(client.post("/v1/post-edit", json=PASSAGE | {"model": "first"}))
        await until(lambda: shared_service.models()["first"]["adapter"]["in_use"] == 1)
        unloading = asyncio.create_task(client.delete("/v1/models/first"))
        await until(lambda: "first" not in shared_service.models())
        refused = await client.post("/v1/post-edit", json=PASSAGE | {"model": "first"})
        assert refused.status_code == 404
        assert not unloading.done()
        assert (await asking).json()["decision"] == "unchanged"
        assert (await unloading).status_code == 204


async def test_an_alias_moves_under_load_without_a_failed_request(vllm_service: VllmService) -> None:
    for name in ("first", "second"):
        vllm_service.load(name)
    vllm_service.fake.set(pause=0.01)
    stop = asyncio.Event()
    seen: list[tuple[int, str]] = []

    async def keep_asking(client: httpx2.AsyncClient) -> None:
        while not stop.is_set():
            answer = await client.post("/v1/post-edit", json=PASSAGE)
            seen.append((answer.status_code, answer.json().get("model", "")))

    async with httpx2.AsyncClient(base_url=vllm_service.address, timeout=300) as client:
        askers = [asyncio.create_task(keep_asking(client)) for _ in range(8)]
        for target in ("first", "second", "tiny", "first") * 3:
            moved = await client.put("/v1/aliases/default", json={"model": target})
            assert (moved.status_code, moved.json()) == (200, {"alias": "default", "model": target})
            # Requests from now on get the new model.
            assert (await client.post("/v1/post-edit", json=PASSAGE)).json()["model"] == target
        assert (await client.delete("/v1/models/second")).status_code == 204
        stop.set()
        await asyncio.gather(*askers)
    assert {status for status, _ in seen} == {200}
    assert {model for _, model in seen} == {"first", "second", "tiny"}


def test_an_alias_keeps_its_adapter_and_must_be_moved_first(vllm_service: VllmService) -> None:
    vllm_service.load("first")
    assert vllm_service.client.put("/v1/aliases/best", json={"model": "first"}).status_code == 200
    assert vllm_service.ask("best").json()["model"] == "first"
    kept = vllm_service.client.delete("/v1/models/first")
    assert (kept.status_code, "alias best stands for first" in kept.json()["detail"]) == (409, True)
    assert vllm_service.load("best", "second").status_code == 409
    assert vllm_service.client.delete("/v1/aliases/best").status_code == 204
    assert vllm_service.ask("best").status_code == 404
    assert vllm_service.client.delete("/v1/models/first").status_code == 204


@pytest.mark.parametrize(
    ("alias", "body", "status"),
    [
        ("default", {"model": "nobody"}, 404),
        ("default", {}, 422),
        ("default", {"model": "tiny", "more": 1}, 422),
        ("tiny", {"model": "first"}, 409),
        ("best", {"model": "default"}, 409),
        ("default", {"model": "default"}, 409),
        ("a b", {"model": "tiny"}, 422),
    ],
)
def test_an_alias_that_can_not_be_is_refused(
    shared_service: VllmService, alias: str, body: dict[str, Any], status: int
) -> None:
    assert shared_service.client.put(f"/v1/aliases/{alias}", json=body).status_code == status
    assert shared_service.ask("default").json()["model"] == "tiny"


def test_after_vllm_died_the_adapters_are_there_again(vllm_service: VllmService) -> None:
    vllm_service.load("first")
    vllm_service.client.put("/v1/aliases/default", json={"model": "first"})
    os.kill(vllm_service.fake.life.api, signal.SIGKILL)
    answer = vllm_service.ask("default")  # waits for the restart
    assert (answer.status_code, answer.json()["model"]) == (200, "first")
    assert len(vllm_service.fake.lives) == 2
    ready = vllm_service.client.get("/readyz")
    assert (ready.status_code, ready.json()["restarts"]) == (200, 1)
    assert vllm_service.metric("ape_engine_up") == vllm_service.metric("ape_engine_restarts_total") == 1


def test_an_adapter_that_is_no_longer_taken_is_told_of_and_the_others_go_on(vllm_service: VllmService) -> None:
    vllm_service.load("first")
    vllm_service.fake.set(load_error="the disk is gone")
    os.kill(vllm_service.fake.life.api, signal.SIGKILL)
    assert vllm_service.ask("tiny").status_code == 200
    out = vllm_service.ask("first")
    assert (out.status_code, "the disk is gone" in out.json()["detail"]) == (503, True)
    assert "the disk is gone" in vllm_service.models()["first"]["adapter"]["failure"]
    assert any("first could not be loaded again" in line for line in vllm_service.status_lines)
    assert vllm_service.client.delete("/v1/models/first").status_code == 204


async def test_killed_in_the_middle_of_sixteen_requests_none_hangs_and_each_has_one_answer(
    vllm_service: VllmService, until: Until
) -> None:
    vllm_service.fake.set(pause=0.5)
    reds: list[httpx2.Response] = []
    async with httpx2.AsyncClient(base_url=vllm_service.address, timeout=300) as client:

        async def look() -> bool:
            ready = await client.get("/readyz")
            reds.extend([ready] if ready.status_code == 503 else [])
            return any("being started" in red.json()["detail"] for red in reds)

        asking = [asyncio.create_task(client.post("/v1/post-edit", json=PASSAGE)) for _ in range(16)]
        await until(lambda: vllm_service.metric("ape_queue_passages") == 16)
        vllm_service.fake.set(slow_start=1)
        os.kill(vllm_service.fake.life.api, signal.SIGKILL)
        await until(look)  # the first response may only report the broken connection
        assert all(int(red.headers["retry-after"]) >= 1 for red in reds)
        assert vllm_service.metric("ape_engine_up") == 0
        answers = await asyncio.gather(*asking)
        await until(lambda: vllm_service.client.get("/readyz").status_code == 200)
    for answer in answers:
        assert answer.status_code in (200, 502, 503)
        assert answer.status_code == 200 or "retry-after" in answer.headers
    logged = [json.loads(line) for line in vllm_service.log if "/v1/post-edit" in line]
    assert len(logged) == len({line["id"] for line in logged}) == 16
    assert vllm_service.metric("ape_queue_passages") == 0


async def test_a_restart_that_takes_too_long_is_a_503_that_says_when(start_service: StartService, until: Until) -> None:
    vllm_service = start_service(retry_seconds=0.5)
    vllm_service.fake.set(never_healthy=True)
    os.kill(vllm_service.fake.life.api, signal.SIGKILL)
    await until(lambda: vllm_service.client.get("/readyz").status_code == 503)
    answer = vllm_service.ask("default")
    assert (answer.status_code, answer.json()["mt"]) == (503, PASSAGE["mt"])
    assert int(answer.headers["retry-after"]) >= 1


async def test_the_id_of_a_request_reaches_vllm_and_both_logs(shared_service: VllmService, until: Until) -> None:
    shared_service.client.post("/v1/post-edit", json=PASSAGE, headers={"X-Request-Id": "my-id-7"})
    assert any("chatcmpl-my-id-7." in line and line.startswith("vllm | ") for line in shared_service.status_lines)
    await until(lambda: shared_service.log)  # written after the response
    assert json.loads(shared_service.log[-1])["id"] == "my-id-7"


def test_the_numbers_of_vllm_itself_can_be_read(shared_service: VllmService) -> None:
    shared_service.ask("tiny")
    assert "vllm:request_success_total" in shared_service.client.get("/metrics/engine").text


def test_only_an_admin_may_change_what_is_served(start_service: StartService) -> None:
    vllm_service = start_service(api_keys="reader", admin_keys="boss")
    reader, boss = ({"Authorization": f"Bearer {key}"} for key in ("reader", "boss"))
    wish = {"name": "first"}
    statuses = [
        vllm_service.client.post("/v1/models", json=wish, headers=headers).status_code
        for headers in ({}, {"Authorization": "Bearer x"}, reader, boss)
    ]
    assert statuses == [401, 401, 403, 201]
    for headers in (reader, boss):
        assert vllm_service.client.get("/v1/models", headers=headers).status_code == 200
        assert vllm_service.client.post("/v1/post-edit", json=PASSAGE, headers=headers).status_code == 200
    assert vllm_service.client.delete("/v1/models/first", headers=reader).status_code == 403
    assert vllm_service.client.put("/v1/aliases/default", json={"model": "first"}, headers=reader).status_code == 403
    assert vllm_service.client.get("/metrics").status_code == 401


def test_a_key_has_so_many_passages_a_minute_and_the_next_key_its_own(start_service: StartService) -> None:
    vllm_service = start_service(api_keys="one,two", rate_limit="3/minute")
    one, two = ({"Authorization": f"Bearer {key}"} for key in ("one", "two"))
    assert vllm_service.client.post("/v1/post-edit", json=[PASSAGE] * 3, headers=one).status_code == 200
    full = vllm_service.client.post("/v1/post-edit", json=PASSAGE, headers=one)
    assert (full.status_code, full.json()["type"]) == (429, "urn:ape:problem:too-many")
    assert 1 <= int(full.headers["retry-after"]) <= 120
    assert vllm_service.client.post("/v1/post-edit", json=PASSAGE, headers=two).status_code == 200
    assert vllm_service.client.post("/v1/post-edit", json=[PASSAGE] * 4, headers=two).status_code == 413


def test_a_failed_adapter_can_be_loaded_again(vllm_service: VllmService) -> None:
    vllm_service.load("first")
    vllm_service.client.put("/v1/aliases/default", json={"model": "first"})
    vllm_service.fake.set(load_error="the disk is gone")
    os.kill(vllm_service.fake.life.api, signal.SIGKILL)
    assert vllm_service.ask("tiny").status_code == 200
    assert vllm_service.ask("default").status_code == 503
    assert vllm_service.metric("ape_adapters_loaded") == 0
    vllm_service.fake.set()
    again = vllm_service.load("first")
    assert (again.status_code, again.json()["adapter"]["failure"]) == (200, None)
    assert vllm_service.ask("default").json()["model"] == "first"
    assert vllm_service.metric("ape_adapters_loaded") == 1


async def test_an_adapter_that_is_changed_during_a_restart_is_the_new_one_afterwards(
    vllm_service: VllmService, until: Until
) -> None:
    """An adapter unloaded while others are reloaded must not come back with its old weights."""
    for name in ("first", "second", "third"):
        vllm_service.load(name)
    vllm_service.fake.set(answer_delay=0.5)
    os.kill(vllm_service.fake.life.api, signal.SIGKILL)
    await until(lambda: len(vllm_service.fake.lives) == 2)
    await until(lambda: any("load_lora_adapter" in line for line in vllm_service.status_lines))
    assert vllm_service.client.delete("/v1/models/third").status_code == 204
    write_tensors(vllm_service.root / "third" / "adapter_model.safetensors", lora(seed=55))
    refused = vllm_service.load("third")
    assert refused.status_code in (201, 503)
    await until(lambda: vllm_service.client.get("/readyz").status_code == 200)
    vllm_service.fake.set()
    assert vllm_service.load("third").status_code in (200, 201)
    arguments, key = vllm_service.fake.life.arguments, vllm_service.fake.life.environment["VLLM_API_KEY"]
    url = f"http://127.0.0.1:{arguments[arguments.index('--port') + 1]}/v1/models"
    listed = httpx2.get(url, headers={"Authorization": f"Bearer {key}"}).json()["data"]
    served = Path({model["id"]: model["root"] for model in listed}["third"])
    weights = [place / "adapter_model.safetensors" for place in (served, vllm_service.root / "third")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


async def test_the_limit_of_adapters_holds_for_those_that_come_at_once(start_service: StartService) -> None:
    vllm_service = start_service(max_adapters=2)
    vllm_service.fake.set(answer_delay=0.2)
    async with httpx2.AsyncClient(base_url=vllm_service.address, timeout=300) as client:
        wishes = [{"name": f"copy-{number}", "directory": "first"} for number in range(6)]
        answers = await asyncio.gather(*(client.post("/v1/models", json=wish) for wish in wishes))
    assert sorted(answer.status_code for answer in answers) == [201, 201, 507, 507, 507, 507]
    assert len(vllm_service.models()) == 3


async def test_a_name_that_is_being_loaded_is_no_alias(shared_service: VllmService, until: Until) -> None:
    shared_service.fake.set(answer_delay=0.5)
    async with httpx2.AsyncClient(base_url=shared_service.address, timeout=300) as client:
        loading = asyncio.create_task(client.post("/v1/models", json={"name": "first"}))
        await asyncio.sleep(0.2)
        assert (await client.put("/v1/aliases/first", json={"model": "tiny"})).status_code == 409
        assert (await loading).status_code == 201


def test_copies_go_with_their_adapters(vllm_service: VllmService, tmp_path: Path) -> None:
    (copies,) = [place for place in (tmp_path / "cache" / "adapters").iterdir() if place.is_dir()]
    vllm_service.load("first")
    vllm_service.load("again", "first")
    corrupt(vllm_service.root / "second" / "adapter_model.safetensors")
    assert vllm_service.load("second").status_code == 422
    assert len(list(copies.iterdir())) == 1
    vllm_service.client.delete("/v1/models/first")
    assert vllm_service.ask("again").status_code == 200
    assert len(list(copies.iterdir())) == 1
    vllm_service.client.delete("/v1/models/again")
    assert list(copies.iterdir()) == []


def test_a_stray_adapter_does_not_stop_the_start(start_service: StartService, tmp_path: Path) -> None:
    place = make_adapter(tmp_path / "adapters" / "stray", tmp_path / "tiny", config={"r": 1024})
    make_adapter(tmp_path / "adapters" / "deep", tmp_path / "tiny")
    deep = "[" * 100_000
    (tmp_path / "adapters" / "deep" / "adapter_config.json").write_text(deep)
    vllm_service = start_service(adapters={"first": tmp_path / "adapters" / "first"})
    arguments = vllm_service.fake.life.arguments
    assert arguments[arguments.index("--max-loras") + 1] == "4"
    assert vllm_service.load("stray").status_code == vllm_service.load("deep").status_code == 422
    assert place.exists()


def test_without_api_keys_an_admin_key_is_asked_for_plainly(start_service: StartService) -> None:
    vllm_service = start_service(admin_keys="boss")
    assert vllm_service.load("first").status_code == 401
    assert vllm_service.ask("tiny").status_code == 200


def test_a_base_that_an_adapter_was_merged_into_is_asked_as_that_was_taught(
    start_service: StartService, tmp_path: Path
) -> None:
    shutil.copyfile(tmp_path / "adapters" / "first" / "ape.json", tmp_path / "tiny" / "ape.json")
    vllm_service = start_service()
    assert vllm_service.models()["tiny"]["prompt"] == SEP.fingerprint
    assert vllm_service.ask("tiny").json()["prompt"] == SEP.fingerprint


def test_an_engine_without_adapters_says_so(service: httpx2.Client) -> None:
    answer = service.post("/v1/models", json={"name": "first"})
    assert (answer.status_code, "Set `engine` to vllm" in answer.json()["detail"]) == (409, True)
    assert service.get("/metrics/engine").status_code == 404


def test_a_vllm_that_runs_already_is_used_with_the_adapters_it_has(vllm_service: VllmService, tmp_path: Path) -> None:
    vllm_service.load("first")
    make_adapter(vllm_service.root / "later", vllm_service.base, seed=8)
    arguments = vllm_service.fake.life.arguments
    settings = Settings(
        engine="vllm",
        url=f"http://127.0.0.1:{arguments[arguments.index('--port') + 1]}/v1",
        engine_key=vllm_service.fake.life.environment["VLLM_API_KEY"],
        cache=tmp_path / "other",
        adapter_dirs=(vllm_service.root,),
    )
    status_lines: list[str] = []
    with (
        running(create_app(settings, open_engine(settings, log_line=status_lines.append))) as address,
        httpx2.Client(base_url=address, timeout=300) as client,
    ):
        listed = {model["name"] for model in client.get("/v1/models").json()["models"]}
        assert listed == {"tiny", "first"}
        assert client.post("/v1/models", json={"name": "later"}).status_code == 201
        answer = client.post("/v1/post-edit", json=PASSAGE | {"model": "later"}).json()
        assert (answer["model"], answer["prompt"]) == ("later", SEP.fingerprint)
    assert vllm_service.ask("tiny").status_code == 200  # an external vLLM keeps running
