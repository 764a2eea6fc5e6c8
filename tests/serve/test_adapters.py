"""Adapters and aliases over HTTP, on a vLLM that fails as it is told: a clear answer each, and the others go on."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
from collections.abc import Awaitable, Callable, Iterator
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

PASSAGE = {"source": "Claire posa son sac.", "mt": "Claire put down her bag.", "max_attempts": 1}
Until = Callable[..., Awaitable[None]]


@dataclass
class House:
    """A service on a fake vLLM, and the folder that it may take adapters from."""

    fake: Fake
    base: Path
    root: Path
    said: list[str]
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

    def number(self, name: str) -> float:
        """A number of /metrics."""
        text = self.client.get("/metrics").text
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        assert found, f"{name} is not in:\n{text}"
        return float(found.group(1))


Open = Callable[..., House]


@pytest.fixture
def make_house(tmp_path: Path) -> Iterator[Open]:
    """Open a service with these settings; it is closed at the end of the test."""
    from contextlib import ExitStack

    base = make_base(tmp_path / "tiny")
    root = tmp_path / "adapters"
    for number, (name, form) in enumerate({"first": "sep", "second": "sep", "third": "chat"}.items()):
        make_adapter(root / name, base, form=form, seed=number)
    fake = Fake(tmp_path)
    with ExitStack() as stack:

        def open_house(**values: Any) -> House:
            settings = Settings(
                engine="vllm",
                model=str(base),
                cache=tmp_path / "cache",
                vllm_python=fake.python,
                adapter_dirs=(root,),
                **{"retry_seconds": 20.0, **values},
            )
            said: list[str] = []
            log: list[str] = []
            app = create_app(settings, open_engine(settings, log_line=said.append), log=log.append)
            address = stack.enter_context(running(app))
            client = stack.enter_context(httpx2.Client(base_url=address, timeout=60))
            return House(fake, base, root, said, log, client, address)

        yield open_house


@pytest.fixture
def house(make_house: Open) -> House:
    return make_house()


def test_an_adapter_is_loaded_listed_asked_in_its_format_and_unloaded(house: House) -> None:
    assert list(house.models()) == ["tiny"]
    loaded = house.load("first")
    assert loaded.status_code == 201
    told = loaded.json()
    assert (told["name"], told["kind"], told["prompt"]) == ("first", "adapter", SEP.fingerprint)
    assert told["window"] == 2048  # the base's
    assert told["adapter"]["languages"] == ["fr-en"]
    assert told["adapter"]["parity"] == {"identical": 50, "prompts": 50}
    assert (told["adapter"]["base"], told["adapter"]["rank"]) == ("someone/tiny", 2)
    assert house.load("third").json()["prompt"] == CHAT.fingerprint
    assert list(house.models()) == ["tiny", "first", "third"]
    answers = {name: house.ask(name).json() for name in ("tiny", "first", "third", "default")}
    assert {name: answer["model"] for name, answer in answers.items()} == {
        "tiny": "tiny", "first": "first", "third": "third", "default": "tiny",
    }  # fmt: skip
    assert [answers[name]["prompt"] for name in ("tiny", "first")] == [
        CHAT.fingerprint,
        SEP.fingerprint,
    ]
    assert house.client.delete("/v1/models/first").status_code == 204
    assert list(house.models()) == ["tiny", "third"]
    gone = house.ask("first")
    assert (gone.status_code, gone.json()["field"]) == (404, "model")
    assert "There is: default, tiny, third." in gone.json()["detail"]


def test_its_gate_undoes_what_vllm_was_not_sure_of(house: House) -> None:
    """Both edits are at a token that is told; behind the second one comes the end, and that is not of the draft."""
    gate = EditFilter(features={"lead": (-1.0, 1.0, 5.0), "back": (-1.0, 1.0, 5.0)}, bias=0.0, threshold=0.5)
    make_adapter(house.root / "gated", house.base, seed=7, gate=gate)
    for name in ("gated", "first"):
        assert house.load(name).status_code == 201
    house.fake.set(draft="Claire put her bag on the table.", unsure=["put"])
    passage = {
        "source": "Claire posa son sac.",
        "mt": "Claire posed her bag on the chair.",
        "max_attempts": 1,
    }
    plain, gated = (
        house.client.post("/v1/post-edit", json=passage | {"model": name}).json()
        for name in ("first", "gated")
    )
    assert plain["post_edit"] == "Claire put her bag on the table."
    assert gated["post_edit"] == "Claire posed her bag on the table."
    assert "undone, such as 'posed' -> 'put'" in gated["findings"][0]["message"]


def test_a_pair_that_it_was_not_tuned_for_is_told(house: House) -> None:
    house.load("first")
    pairs = {"fr": [], "de": ["languages"]}
    for language, told in pairs.items():
        passage = PASSAGE | {"model": "first", "source_language": language, "target_language": "en"}
        findings = house.client.post("/v1/post-edit", json=passage).json()["findings"]
        assert [finding["guard"] for finding in findings] == told
    assert findings[0]["message"].startswith("first was tuned for fr-en, not for German to English")


def test_a_check_that_is_noted_in_the_card_does_not_make_it_another_adapter(house: House) -> None:
    before = house.load("first").json()["adapter"]["revision"]
    card = house.root / "first" / "ape.json"
    card.write_text(card.read_text().replace('"identical": 50', '"identical": 49'))
    again = house.load("first")
    assert (again.status_code, again.json()["adapter"]["revision"]) == (200, before)


def test_one_can_be_there_from_the_beginning_and_be_the_default(make_house: Open, tmp_path: Path) -> None:
    base = tmp_path / "tiny"
    place = make_adapter(tmp_path / "elsewhere", base, rank=4)
    house = make_house(adapters={"mine": place}, aliases={"default": "mine"})
    assert house.ask("default").json()["model"] == "mine"
    assert next(iter(house.models())) == "mine"
    arguments = house.fake.life.arguments
    assert arguments[arguments.index("--max-lora-rank") + 1] == "8"


def test_it_goes_under_another_name_and_from_a_folder_within(house: House) -> None:
    make_adapter(house.root / "par3" / "v2", house.base, seed=9)
    assert house.load("par3-v2", "par3/v2").status_code == 201
    assert house.ask("par3-v2").json()["model"] == "par3-v2"


def test_the_original_may_be_overwritten_while_it_is_served(house: House) -> None:
    first = house.load("first").json()
    write_tensors(house.root / "first" / "adapter_model.safetensors", lora(seed=77))
    again = house.load("first")
    assert (again.status_code, again.json()["title"]) == (409, "Conflict")
    assert first["adapter"]["revision"] in again.json()["detail"]
    assert house.load("newer", "first").status_code == 201
    listed = house.models()
    assert listed["first"]["adapter"]["revision"] == first["adapter"]["revision"]
    assert listed["newer"]["adapter"]["revision"] != first["adapter"]["revision"]


def corrupt(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


REFUSED: dict[str, tuple[Callable[[House], object], dict[str, str], int, str]] = {
    "missing": (lambda house: None, {"name": "nowhere"}, 422, "no adapter directory 'nowhere'"),
    "outside": (lambda house: None, {"name": "x", "directory": "/etc"}, 422, "no adapter directory"),
    "above": (lambda house: None, {"name": "x", "directory": "../elsewhere"}, 422, "no adapter directory"),
    "by symlink": (
        lambda house: (house.root / "link").symlink_to(house.base),
        {"name": "link"},
        422,
        "links that lead out of them are not followed",
    ),
    "corrupt": (
        lambda house: corrupt(house.root / "second" / "adapter_model.safetensors"),
        {"name": "second"},
        422,
        "adapter_model.safetensors is damaged",
    ),
    "wrong base": (
        lambda house: make_adapter(house.root / "other", make_base(house.base.parent / "b2", seed=5)),
        {"name": "other"},
        422,
        "another model",
    ),
    "rank": (
        lambda house: make_adapter(house.root / "wide", house.base, rank=24),
        {"name": "wide"},
        422,
        "rank 24, and vLLM was started for ranks up to 8",
    ),
    "format": (
        lambda house: (house.root / "second" / "ape.json").write_text(
            (house.root / "second" / "ape.json").read_text().replace(SEP.fingerprint, "sep@0123456789ab")
        ),
        {"name": "second"},
        422,
        "prompts would differ from those of its training",
    ),
    "no card": (lambda house: (house.root / "second" / "ape.json").unlink(), {"name": "second"}, 422, "no ape.json"),
    "the base's name": (lambda house: None, {"name": "tiny", "directory": "first"}, 409, "name of the base"),
    "too long": (lambda house: None, {"name": "x", "directory": "y" * 300}, 422, "no adapter directory"),
    "a loop of links": (
        lambda house: (house.root / "loop").symlink_to(house.root / "loop"),
        {"name": "loop"},
        422,
        "no adapter directory",
    ),
    "default": (lambda house: None, {"name": "default", "directory": "first"}, 409, "Choose another"),
    "memory": (
        lambda house: house.fake.set(load_error="DefaultCPUAllocator: can't allocate memory: you tried to allocate"),
        {"name": "second"},
        507,
        "no memory for another adapter",
    ),
    "vLLM will not": (
        lambda house: house.fake.set(load_error="no room for LoRA rank 8 in Bloom", load_status=400),
        {"name": "second"},
        502,
        "vLLM could not load the adapter second: no room for LoRA rank 8 in Bloom",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_adapter_is_refused_with_the_reason_and_the_others_go_on(house: House, case: str) -> None:
    spoil, wish, status, sentence = REFUSED[case]
    assert house.load("first").status_code == 201
    spoil(house)
    answer = house.client.post("/v1/models", json=wish)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert sentence in answer.json()["detail"]
    assert list(house.models()) == ["tiny", "first"]
    assert house.ask("first").json()["decision"] == "unchanged"
    outcome = "failed" if status in (502, 507) else "refused"
    assert house.number(f'ape_adapter_loads_total{{outcome="{outcome}"}}') == 1
    house.fake.set()
    assert house.load("third").status_code == 201


def test_no_more_than_so_many_are_loaded(make_house: Open) -> None:
    house = make_house(max_adapters=1)
    assert house.load("first").status_code == 201
    full = house.load("second")
    assert (full.status_code, "Unload one first" in full.json()["detail"]) == (507, True)
    house.client.delete("/v1/models/first")
    assert house.load("second").status_code == 201


async def test_two_clients_that_load_the_same_both_get_it(house: House) -> None:
    house.fake.set(answer_delay=0.3)
    async with httpx2.AsyncClient(base_url=house.address, timeout=60) as client:
        answers = await asyncio.gather(*(client.post("/v1/models", json={"name": "first"}) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
    assert len({json.dumps(answer.json()["adapter"]["revision"]) for answer in answers}) == 1
    assert house.number('ape_adapter_loads_total{outcome="loaded"}') == 1


async def test_a_client_that_hangs_up_does_not_leave_half_an_adapter(house: House, until: Until) -> None:
    house.fake.set(answer_delay=0.5)
    async with httpx2.AsyncClient(base_url=house.address, timeout=60) as client:
        loading = asyncio.create_task(client.post("/v1/models", json={"name": "first"}))
        await asyncio.sleep(0.2)
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)
    await until(lambda: "first" in house.models())
    house.fake.set()
    assert house.ask("first").status_code == 200


async def test_one_in_use_is_unloaded_when_its_passages_are_finished(house: House, until: Until) -> None:
    house.load("first")
    house.fake.set(pause=0.4)
    async with httpx2.AsyncClient(base_url=house.address, timeout=60) as client:
        asking = asyncio.create_task(client.post("/v1/post-edit", json=PASSAGE | {"model": "first"}))
        await until(lambda: house.models()["first"]["adapter"]["in_use"] == 1)
        unloading = asyncio.create_task(client.delete("/v1/models/first"))
        await until(lambda: "first" not in house.models())
        refused = await client.post("/v1/post-edit", json=PASSAGE | {"model": "first"})
        assert refused.status_code == 404
        assert not unloading.done()
        assert (await asking).json()["decision"] == "unchanged"
        assert (await unloading).status_code == 204


async def test_an_alias_moves_under_load_without_a_failed_request(house: House) -> None:
    for name in ("first", "second"):
        house.load(name)
    house.fake.set(pause=0.01)
    stop = asyncio.Event()
    seen: list[tuple[int, str]] = []

    async def keep_asking(client: httpx2.AsyncClient) -> None:
        while not stop.is_set():
            answer = await client.post("/v1/post-edit", json=PASSAGE)
            seen.append((answer.status_code, answer.json().get("model", "")))

    async with httpx2.AsyncClient(base_url=house.address, timeout=60) as client:
        askers = [asyncio.create_task(keep_asking(client)) for _ in range(8)]
        for target in ("first", "second", "tiny", "first") * 3:
            moved = await client.put("/v1/aliases/default", json={"model": target})
            assert (moved.status_code, moved.json()) == (200, {"alias": "default", "model": target})
            # Whoever asks from now on gets the new one.
            assert (await client.post("/v1/post-edit", json=PASSAGE)).json()["model"] == target
        assert (await client.delete("/v1/models/second")).status_code == 204
        stop.set()
        await asyncio.gather(*askers)
    assert {status for status, _ in seen} == {200}
    assert {model for _, model in seen} == {"first", "second", "tiny"}


def test_an_alias_keeps_its_adapter_and_must_be_moved_first(house: House) -> None:
    house.load("first")
    assert house.client.put("/v1/aliases/best", json={"model": "first"}).status_code == 200
    assert house.ask("best").json()["model"] == "first"
    kept = house.client.delete("/v1/models/first")
    assert (kept.status_code, "alias best stands for first" in kept.json()["detail"]) == (409, True)
    assert house.load("best", "second").status_code == 409
    assert house.client.delete("/v1/aliases/best").status_code == 204
    assert house.ask("best").status_code == 404
    assert house.client.delete("/v1/models/first").status_code == 204


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
    house: House, alias: str, body: dict[str, Any], status: int
) -> None:
    assert house.client.put(f"/v1/aliases/{alias}", json=body).status_code == status
    assert house.ask("default").json()["model"] == "tiny"


def test_after_vllm_died_the_adapters_are_there_again(house: House) -> None:
    house.load("first")
    house.client.put("/v1/aliases/default", json={"model": "first"})
    os.kill(house.fake.life.api, signal.SIGKILL)
    answer = house.ask("default")  # waits for the restart
    assert (answer.status_code, answer.json()["model"]) == (200, "first")
    assert len(house.fake.lives) == 2
    ready = house.client.get("/readyz")
    assert (ready.status_code, ready.json()["restarts"]) == (200, 1)
    assert house.number("ape_engine_up") == house.number("ape_engine_restarts_total") == 1


def test_an_adapter_that_is_no_longer_taken_is_told_of_and_the_others_go_on(house: House) -> None:
    house.load("first")
    house.fake.set(load_error="the disk is gone")
    os.kill(house.fake.life.api, signal.SIGKILL)
    assert house.ask("tiny").status_code == 200
    out = house.ask("first")
    assert (out.status_code, "the disk is gone" in out.json()["detail"]) == (503, True)
    assert "the disk is gone" in house.models()["first"]["adapter"]["failure"]
    assert any("first could not be loaded again" in line for line in house.said)
    assert house.client.delete("/v1/models/first").status_code == 204


async def test_killed_in_the_middle_of_sixteen_requests_none_hangs_and_each_has_one_answer(
    house: House, until: Until
) -> None:
    house.fake.set(pause=0.5)
    reds: list[httpx2.Response] = []
    async with httpx2.AsyncClient(base_url=house.address, timeout=60) as client:

        async def look() -> bool:
            ready = await client.get("/readyz")
            reds.extend([ready] if ready.status_code == 503 else [])
            return any("being started" in red.json()["detail"] for red in reds)

        asking = [asyncio.create_task(client.post("/v1/post-edit", json=PASSAGE)) for _ in range(16)]
        await until(lambda: house.number("ape_queue_passages") == 16)
        house.fake.set(slow_start=1)
        os.kill(house.fake.life.api, signal.SIGKILL)
        await until(look)  # the first may still tell of the broken connection alone
        assert all(int(red.headers["retry-after"]) >= 1 for red in reds)
        assert house.number("ape_engine_up") == 0
        answers = await asyncio.gather(*asking)
        await until(lambda: house.client.get("/readyz").status_code == 200)
    for answer in answers:
        assert answer.status_code in (200, 502, 503)
        assert answer.status_code == 200 or "retry-after" in answer.headers
    logged = [json.loads(line) for line in house.log if "/v1/post-edit" in line]
    assert len(logged) == len({line["id"] for line in logged}) == 16
    assert house.number("ape_queue_passages") == 0


async def test_a_restart_that_takes_too_long_is_a_503_that_says_when(make_house: Open, until: Until) -> None:
    house = make_house(retry_seconds=0.5)
    house.fake.set(never_healthy=True)
    os.kill(house.fake.life.api, signal.SIGKILL)
    await until(lambda: house.client.get("/readyz").status_code == 503)
    answer = house.ask("default")
    assert (answer.status_code, answer.json()["mt"]) == (503, PASSAGE["mt"])
    assert int(answer.headers["retry-after"]) >= 1


async def test_the_id_of_a_request_reaches_vllm_and_both_logs(house: House, until: Until) -> None:
    house.client.post("/v1/post-edit", json=PASSAGE, headers={"X-Request-Id": "my-id-7"})
    assert any("chatcmpl-my-id-7." in line and line.startswith("vllm | ") for line in house.said)
    await until(lambda: house.log)  # written once the answer is out
    assert json.loads(house.log[-1])["id"] == "my-id-7"


def test_the_numbers_of_vllm_itself_can_be_read(house: House) -> None:
    house.ask("tiny")
    assert "vllm:request_success_total" in house.client.get("/metrics/engine").text


def test_only_an_admin_may_change_what_is_served(make_house: Open) -> None:
    house = make_house(api_keys="reader", admin_keys="boss")
    reader, boss = ({"Authorization": f"Bearer {key}"} for key in ("reader", "boss"))
    wish = {"name": "first"}
    statuses = [
        house.client.post("/v1/models", json=wish, headers=headers).status_code
        for headers in ({}, {"Authorization": "Bearer x"}, reader, boss)
    ]
    assert statuses == [401, 401, 403, 201]
    for headers in (reader, boss):
        assert house.client.get("/v1/models", headers=headers).status_code == 200
        assert house.client.post("/v1/post-edit", json=PASSAGE, headers=headers).status_code == 200
    assert house.client.delete("/v1/models/first", headers=reader).status_code == 403
    assert house.client.put("/v1/aliases/default", json={"model": "first"}, headers=reader).status_code == 403
    assert house.client.get("/metrics").status_code == 401


def test_a_key_has_so_many_passages_a_minute_and_the_next_key_its_own(make_house: Open) -> None:
    house = make_house(api_keys="one,two", rate_limit="3/minute")
    one, two = ({"Authorization": f"Bearer {key}"} for key in ("one", "two"))
    assert house.client.post("/v1/post-edit", json=[PASSAGE] * 3, headers=one).status_code == 200
    full = house.client.post("/v1/post-edit", json=PASSAGE, headers=one)
    assert (full.status_code, full.json()["type"]) == (429, "urn:ape:problem:too-many")
    assert 1 <= int(full.headers["retry-after"]) <= 120
    assert house.client.post("/v1/post-edit", json=PASSAGE, headers=two).status_code == 200
    assert house.client.post("/v1/post-edit", json=[PASSAGE] * 4, headers=two).status_code == 413


def test_a_failed_adapter_can_be_loaded_again(house: House) -> None:
    house.load("first")
    house.client.put("/v1/aliases/default", json={"model": "first"})
    house.fake.set(load_error="the disk is gone")
    os.kill(house.fake.life.api, signal.SIGKILL)
    assert house.ask("tiny").status_code == 200
    assert house.ask("default").status_code == 503
    assert house.number("ape_adapters_loaded") == 0
    house.fake.set()
    again = house.load("first")
    assert (again.status_code, again.json()["adapter"]["failure"]) == (200, None)
    assert house.ask("default").json()["model"] == "first"
    assert house.number("ape_adapters_loaded") == 1


async def test_an_adapter_that_is_changed_during_a_restart_is_the_new_one_afterwards(
    house: House, until: Until
) -> None:
    """What is unloaded while others are loaded again must not come back with its old weights."""
    for name in ("first", "second", "third"):
        house.load(name)
    house.fake.set(answer_delay=0.5)
    os.kill(house.fake.life.api, signal.SIGKILL)
    await until(lambda: len(house.fake.lives) == 2)
    await until(lambda: any("load_lora_adapter" in line for line in house.said))
    assert house.client.delete("/v1/models/third").status_code == 204
    write_tensors(house.root / "third" / "adapter_model.safetensors", lora(seed=55))
    refused = house.load("third")
    assert refused.status_code in (201, 503)
    await until(lambda: house.client.get("/readyz").status_code == 200)
    house.fake.set()
    assert house.load("third").status_code in (200, 201)
    arguments, key = house.fake.life.arguments, house.fake.life.environment["VLLM_API_KEY"]
    url = f"http://127.0.0.1:{arguments[arguments.index('--port') + 1]}/v1/models"
    listed = httpx2.get(url, headers={"Authorization": f"Bearer {key}"}).json()["data"]
    served = Path({model["id"]: model["root"] for model in listed}["third"])
    weights = [place / "adapter_model.safetensors" for place in (served, house.root / "third")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


async def test_the_limit_of_adapters_holds_for_those_that_come_at_once(make_house: Open) -> None:
    house = make_house(max_adapters=2)
    house.fake.set(answer_delay=0.2)
    async with httpx2.AsyncClient(base_url=house.address, timeout=60) as client:
        wishes = [{"name": f"copy-{number}", "directory": "first"} for number in range(6)]
        answers = await asyncio.gather(*(client.post("/v1/models", json=wish) for wish in wishes))
    assert sorted(answer.status_code for answer in answers) == [201, 201, 507, 507, 507, 507]
    assert len(house.models()) == 3


async def test_a_name_that_is_being_loaded_is_no_alias(house: House, until: Until) -> None:
    house.fake.set(answer_delay=0.5)
    async with httpx2.AsyncClient(base_url=house.address, timeout=60) as client:
        loading = asyncio.create_task(client.post("/v1/models", json={"name": "first"}))
        await asyncio.sleep(0.2)
        assert (await client.put("/v1/aliases/first", json={"model": "tiny"})).status_code == 409
        assert (await loading).status_code == 201


def test_copies_go_with_their_adapters(house: House, tmp_path: Path) -> None:
    (copies,) = [place for place in (tmp_path / "cache" / "adapters").iterdir() if place.is_dir()]
    house.load("first")
    house.load("again", "first")
    corrupt(house.root / "second" / "adapter_model.safetensors")
    assert house.load("second").status_code == 422
    assert len(list(copies.iterdir())) == 1
    house.client.delete("/v1/models/first")
    assert house.ask("again").status_code == 200
    assert len(list(copies.iterdir())) == 1
    house.client.delete("/v1/models/again")
    assert list(copies.iterdir()) == []


def test_a_stray_adapter_does_not_stop_the_start(make_house: Open, tmp_path: Path) -> None:
    place = make_adapter(tmp_path / "adapters" / "stray", tmp_path / "tiny", config={"r": 1024})
    make_adapter(tmp_path / "adapters" / "deep", tmp_path / "tiny")
    deep = "[" * 100_000
    (tmp_path / "adapters" / "deep" / "adapter_config.json").write_text(deep)
    house = make_house(adapters={"first": tmp_path / "adapters" / "first"})
    arguments = house.fake.life.arguments
    assert arguments[arguments.index("--max-loras") + 1] == "4"
    assert house.load("stray").status_code == house.load("deep").status_code == 422
    assert place.exists()


def test_without_api_keys_an_admin_key_is_asked_for_plainly(make_house: Open) -> None:
    house = make_house(admin_keys="boss")
    assert house.load("first").status_code == 401
    assert house.ask("tiny").status_code == 200


def test_a_base_that_an_adapter_was_merged_into_is_asked_as_that_was_taught(
    make_house: Open, tmp_path: Path
) -> None:
    shutil.copyfile(tmp_path / "adapters" / "first" / "ape.json", tmp_path / "tiny" / "ape.json")
    house = make_house()
    assert house.models()["tiny"]["prompt"] == SEP.fingerprint
    assert house.ask("tiny").json()["prompt"] == SEP.fingerprint


def test_an_engine_without_adapters_says_so(service: httpx2.Client) -> None:
    answer = service.post("/v1/models", json={"name": "first"})
    assert (answer.status_code, "Set `engine` to vllm" in answer.json()["detail"]) == (409, True)
    assert service.get("/metrics/engine").status_code == 404


def test_a_vllm_that_runs_already_is_used_with_the_adapters_it_has(house: House, tmp_path: Path) -> None:
    house.load("first")
    make_adapter(house.root / "later", house.base, seed=8)
    arguments = house.fake.life.arguments
    settings = Settings(
        engine="vllm",
        url=f"http://127.0.0.1:{arguments[arguments.index('--port') + 1]}/v1",
        engine_key=house.fake.life.environment["VLLM_API_KEY"],
        cache=tmp_path / "other",
        adapter_dirs=(house.root,),
    )
    said: list[str] = []
    with (
        running(create_app(settings, open_engine(settings, log_line=said.append))) as address,
        httpx2.Client(base_url=address, timeout=60) as client,
    ):
        listed = {model["name"] for model in client.get("/v1/models").json()["models"]}
        assert listed == {"tiny", "first"}
        assert client.post("/v1/models", json={"name": "later"}).status_code == 201
        answer = client.post("/v1/post-edit", json=PASSAGE | {"model": "later"}).json()
        assert (answer["model"], answer["prompt"]) == ("later", SEP.fingerprint)
    assert house.ask("tiny").status_code == 200  # it is not ours, and goes on
