"""vLLM is started, monitored and restarted, and leaves no process behind: with a fake vLLM over real HTTP."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ape.engines import EngineHealth
from ape.engines.vllm.launch import LOOPBACK, VllmLaunch
from ape.engines.vllm.supervisor import LOG_PREFIX, VllmState, VllmSupervisor, VllmTimeouts, reserve_port
from ape.errors import EngineUnavailable, InputError, ModelError
from tests.ape.engines.vllm.test_process import alive
from tests.serve.fake_vllm import Fake

pytestmark = pytest.mark.subprocess

HASTY = VllmTimeouts(poll=0.1, unresponsive=30, first_wait=0.05, longest_wait=0.2, stop=5, progress=0.2)
Until = Callable[..., Awaitable[None]]
# A small service: it reports when vLLM is up, and on an interrupt sends a request before it stops.
SERVICE = """
import asyncio, signal, sys
# These are ignored, and inherited so, when the tests run in the background.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
from pathlib import Path
import httpx2
from ape.engines.vllm.launch import VllmLaunch
from ape.engines.vllm.supervisor import VllmSupervisor

async def main():
    async with VllmSupervisor(VllmLaunch(Path(sys.argv[1]), "m", "base"), log_line=lambda line: None) as vllm:
        print("up", flush=True)
        try:
            await asyncio.sleep(600)
        finally:
            print(httpx2.get(vllm.url.removesuffix("/v1") + "/health").status_code, flush=True)

asyncio.run(main())
"""


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Fake]:
    """A fake vLLM that must leave no process behind."""
    fake = Fake(tmp_path)
    yield fake
    left = [pid for life in fake.lives for pid in (life.api, life.engine) if alive(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, "somebody was left behind"


class FakeSupervision:
    """A supervisor of the fake vLLM and its log."""

    def __init__(self, fake: Fake) -> None:
        self.lines: list[str] = []
        self.fake = fake

    def vllm(
        self, *flags: str, timeouts: VllmTimeouts = HASTY, start_seconds: float = 60, **more: Any
    ) -> VllmSupervisor:
        launch = VllmLaunch(self.fake.python, "some/model", "base", flags=flags, start_seconds=start_seconds)
        return VllmSupervisor(launch, log_line=self.lines.append, timeouts=timeouts, **more)

    def count(self, part: str) -> int:
        return sum(part in line for line in self.lines)


@pytest.fixture
def supervision(fake: Fake) -> FakeSupervision:
    return FakeSupervision(fake)


async def ask(
    vllm: VllmSupervisor, path: str, body: Mapping[str, object] | None = None, **headers: str
) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {vllm.key}"} | headers
    async with httpx2.AsyncClient(headers=headers, timeout=300) as client:
        return await (client.post(vllm.url + path, json=body) if body else client.get(vllm.url + path))


async def test_it_is_up_with_a_key_of_its_own_and_gone_afterwards(supervision: FakeSupervision) -> None:
    async with supervision.vllm() as vllm:
        assert (vllm.state, vllm.restarts) == (VllmState.UP, 0)
        vllm.require_ready()
        assert vllm.health() == EngineHealth("up")
        assert (await ask(vllm, "/models")).json()["data"][0]["id"] == "base"
        assert (await ask(vllm, "/models", Authorization="Bearer other")).status_code == 401
        life = supervision.fake.life
        assert vllm.key not in " ".join(life.arguments)
    assert vllm.state is VllmState.STOPPED
    assert not alive(life.api)
    assert not alive(life.engine)
    with pytest.raises(EngineUnavailable, match="stopped"):
        vllm.require_ready()


async def test_the_command_has_what_vllm_needs(supervision: FakeSupervision) -> None:
    async with supervision.vllm("--dtype", "float32") as vllm:
        given = supervision.fake.life
    assert given.arguments == (
        *("--model", "some/model", "--served-model-name", "base"),
        *("--host", "127.0.0.1", "--port", str(httpx2.URL(vllm.url).port)),
        *("--enable-lora", "--max-lora-rank", "16", "--max-loras", "4", "--max-cpu-loras", "16"),
        *("--enable-log-requests", "--max-log-len", "0", "--middleware", "ape_vllm_auth.VllmKeyMiddleware"),
        *("--dtype", "float32"),
    )
    assert given.environment["VLLM_API_KEY"] == vllm.key
    assert given.environment["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] == "1"


async def test_nothing_is_reported_unless_the_user_wants_it(
    supervision: FakeSupervision, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DO_NOT_TRACK", "0")
    monkeypatch.setenv("APE_API_KEYS", "secret")
    async with supervision.vllm():
        given = supervision.fake.life.environment
    assert given["VLLM_NO_USAGE_STATS"] == "1"
    assert given["DO_NOT_TRACK"] == "0"
    assert not [name for name in given if name.startswith("APE_")]


@pytest.mark.parametrize(
    ("flags", "rank", "slots", "kept"),
    [
        (("--max-loras", "2"), 16, 2, "--max-lora-rank 16 --max-cpu-loras 16"),
        (("--max_loras=32", "--max-lora-rank=64"), 64, 32, "--max-cpu-loras 32"),
        (("--max-loras", "2", "--max-loras", "3"), 16, 3, "--max-lora-rank 16 --max-cpu-loras 16"),
    ],
)
async def test_a_flag_of_the_users_takes_the_place_of_ours(
    supervision: FakeSupervision, flags: tuple[str, ...], rank: int, slots: int, kept: str
) -> None:
    async with supervision.vllm(*flags, "--no-enable-log-requests") as vllm:
        assert (vllm.max_lora_rank, vllm.max_loras) == (rank, slots)
    ours = " ".join(supervision.fake.life.arguments).partition("--enable-lora ")[2]
    fixed = "--max-log-len 0 --middleware ape_vllm_auth.VllmKeyMiddleware"
    assert ours == f"{kept} {fixed} {' '.join(flags)} --no-enable-log-requests"


@pytest.mark.parametrize(
    ("ranks", "rank", "slots"),
    [((), 16, 4), ((1,), 1, 4), ((8, 4), 8, 4), ((8, 17), 32, 4), ((320,) * 5, 320, 5), ((2,) * 20, 8, 8)],
)
def test_rank_and_slots_follow_from_the_adapters(ranks: tuple[int, ...], rank: int, slots: int) -> None:
    vllm = VllmSupervisor(VllmLaunch(Path("python"), "m", "base", ranks=ranks), log_line=print)
    assert (vllm.max_lora_rank, vllm.max_loras) == (rank, slots)


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--port", "80"), "--port can't be passed to vLLM: its port is chosen anew for each start."),
        (("--host=0.0.0.0",), "--host can't be passed"),
        (("--api_key=hidden",), "--api-key can't be passed"),
        (("--por=80",), "--port can't be passed"),
        (("--uds", "/tmp/x"), "--uds can't be passed"),
        (("--served-model-name", "x"), "--served-model-name can't be passed"),
        (("--max-loras", "many"), "--max-loras must be a whole number of at least 1, not 'many'."),
        (("--max-lora-rank",), "--max-lora-rank must be a whole number"),
    ],
)
def test_flags_that_can_not_be_passed_are_refused(flags: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        VllmSupervisor(VllmLaunch(Path("python"), "m", "base", flags=flags), log_line=print)
    assert str(caught.value).startswith(sentence)
    assert "hidden" not in str(caught.value)


def test_a_rank_that_vllm_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="up to rank 512, and one has 600"):
        VllmSupervisor(VllmLaunch(Path("python"), "m", "base", ranks=(600,)), log_line=print)


@pytest.mark.parametrize(
    ("python", "sentence"),
    [(sys.executable, "has no vllm"), ("/no/such", "can't be run: No such file"), ("/", "can't be run: Permission")],
)
async def test_an_interpreter_without_vllm_is_refused_with_the_remedy(python: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"{sentence}.*APE_VLLM_PYTHON"):
        async with VllmSupervisor(VllmLaunch(Path(python), "m", "base"), log_line=print):
            pass


async def test_its_log_is_passed_on_and_our_own_looks_are_not(supervision: FakeSupervision) -> None:
    supervision.fake.set(say=["\x1b[31mLoading\x1b[0m weights", "caf\x07é"])
    async with supervision.vllm() as vllm:
        body = {"model": "base", "prompt": "source\n\n###\n\nmt\n\n###\n\n"}
        response = await ask(vllm, "/completions", body, **{"X-Request-Id": "our-id-7"})
        assert response.json()["choices"][0]["text"] == "mt"
        assert supervision.count("our-id-7") == 1
    log = [line for line in supervision.lines if line.startswith(LOG_PREFIX)]
    assert log[:2] == [LOG_PREFIX + "Loading weights", LOG_PREFIX + "café"]
    assert supervision.count("/health") == 0


async def test_a_flood_of_log_does_not_hold_it_up(supervision: FakeSupervision) -> None:
    supervision.fake.set(flood=10_000_000)
    async with supervision.vllm():
        pass
    assert supervision.count("xxx") == 100_000


async def test_nobody_listens_and_it_is_up_all_the_same(supervision: FakeSupervision) -> None:
    def closed(line: str) -> None:
        raise BrokenPipeError

    supervision.fake.set(flood=1_000_000)
    async with VllmSupervisor(
        VllmLaunch(supervision.fake.python, "m", "base"), log_line=closed, timeouts=HASTY
    ) as vllm:
        assert vllm.state is VllmState.UP


async def test_a_long_start_shows_progress(supervision: FakeSupervision) -> None:
    supervision.fake.set(slow_start=1)
    async with supervision.vllm():
        pass
    assert supervision.count("vLLM has been starting for") >= 2


async def test_death_at_the_first_start_is_an_error_with_its_last_words(supervision: FakeSupervision) -> None:
    supervision.fake.set(die_after_start=True)
    with pytest.raises(
        ModelError, match=r"stopped with exit code 3\. The end of its log:\n  ValueError: there is no model"
    ) as caught:
        async with supervision.vllm():
            pass
    assert caught.value.exit_code == 1
    assert len(supervision.fake.lives) == 1


async def test_a_start_that_takes_too_long_is_an_error(supervision: FakeSupervision) -> None:
    supervision.fake.set(never_healthy=True, ignore_sigterm=True)
    with pytest.raises(EngineUnavailable, match=r"vLLM was not up within 1\.5 s"):
        async with supervision.vllm(start_seconds=1.5):
            pass


async def test_interrupted_while_it_starts_nothing_is_left(supervision: FakeSupervision, until: Until) -> None:
    supervision.fake.set(never_healthy=True)
    vllm = supervision.vllm()
    starting = asyncio.create_task(vllm.__aenter__())
    await until(lambda: supervision.fake.lives)
    starting.cancel()
    await asyncio.wait({starting})
    assert starting.cancelled()
    assert vllm.state is VllmState.STOPPED
    assert not alive(supervision.fake.life.api)


async def test_a_port_that_is_taken_is_left_for_another(supervision: FakeSupervision) -> None:
    taken: list[int] = []

    def hold() -> socket.socket:
        if len(taken) > 1:
            return reserve_port()
        other = socket.create_server((LOOPBACK, 0))
        taken.append(other.getsockname()[1])
        return other

    async with supervision.vllm(hold=hold) as vllm:
        assert httpx2.URL(vllm.url).port not in taken
    assert supervision.count("Its port was taken: trying another one.") == 2


async def test_a_held_port_goes_to_nobody_else_but_vllm_can_listen_there() -> None:
    with reserve_port() as held, socket.socket() as other, socket.socket() as vllm:
        with pytest.raises(OSError, match="in use"):
            other.bind(held.getsockname())
        vllm.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        vllm.bind(held.getsockname())
        vllm.listen()


@pytest.mark.parametrize("who", ["api", "engine"])
async def test_killed_it_is_started_again(supervision: FakeSupervision, until: Until, who: str) -> None:
    async with supervision.vllm() as vllm:
        first, url = supervision.fake.life, vllm.url
        os.kill(getattr(first, who), signal.SIGKILL)
        await until(lambda: vllm.state is not VllmState.UP)
        with pytest.raises(EngineUnavailable, match="It is being started; retry in about") as caught:
            vllm.require_ready()
        assert caught.value.retry_after
        await until(lambda: vllm.state is VllmState.UP)
        assert not alive(first.api)
        assert not alive(first.engine)
        assert vllm.health() == EngineHealth("up", restarts=1)
        assert vllm.url != url
        assert (await ask(vllm, "/models")).status_code == 200
        assert vllm.why in ("vLLM's engine died.", "vLLM stopped with exit code 0.") or "SIGKILL" in vllm.why
        assert supervision.count(f"{vllm.why} Restarting it in 0.05 s.") == 1


@pytest.mark.parametrize("heeds", [True, False])
async def test_when_its_reaper_is_killed_the_others_go_before_it_is_started_again(
    supervision: FakeSupervision, until: Until, heeds: bool
) -> None:
    supervision.fake.set(ignore_sigterm=not heeds)
    async with supervision.vllm(timeouts=replace(HASTY, stop=0.5)) as vllm:
        first = supervision.fake.life
        os.kill(os.getsid(first.api), signal.SIGKILL)
        await until(lambda: len(supervision.fake.lives) == 2)
        assert not alive(first.api)
        assert not alive(first.engine)
        assert vllm.why == "The reaper of vLLM was killed by SIGKILL."
        await until(lambda: vllm.state is VllmState.UP)


async def test_one_who_does_not_answer_is_killed_and_started_again(supervision: FakeSupervision, until: Until) -> None:
    async with supervision.vllm(timeouts=replace(HASTY, unresponsive=1)) as vllm:
        first = supervision.fake.life
        os.kill(first.api, signal.SIGSTOP)
        await until(lambda: vllm.state is not VllmState.UP)
        await until(lambda: vllm.state is VllmState.UP)
        assert re.fullmatch(r"vLLM did not answer for \d s and was killed\.", vllm.why)
        assert not alive(first.api)
        assert not alive(first.engine)


async def test_a_dead_engine_is_not_waited_for(supervision: FakeSupervision, until: Until) -> None:
    async with supervision.vllm() as vllm:
        supervision.fake.set(unhealthy=True)
        await until(lambda: vllm.state is VllmState.DOWN)
        supervision.fake.set()
        await until(lambda: vllm.state is VllmState.UP)
        assert vllm.why == "vLLM's engine died."


async def test_one_who_keeps_dying_is_started_at_longer_and_longer_intervals(
    supervision: FakeSupervision, until: Until
) -> None:
    async with supervision.vllm() as vllm:
        supervision.fake.set(die_after_start=True)
        os.kill(supervision.fake.life.api, signal.SIGKILL)
        await until(lambda: vllm.restarts == 4)
        waits = [line.rpartition(" in ")[2] for line in supervision.lines if "Restarting it" in line]
        assert waits == ["0.05 s.", "0.1 s.", "0.2 s.", "0.2 s."]
        assert supervision.count("vLLM stopped with exit code 3. Restarting it") >= 2
        supervision.fake.set()
        await until(lambda: vllm.state is VllmState.UP)


async def test_after_a_steady_time_it_is_started_again_quickly(supervision: FakeSupervision, until: Until) -> None:
    async with supervision.vllm(timeouts=replace(HASTY, stable=0)) as vllm:
        for restarts in (1, 2):
            os.kill(supervision.fake.life.api, signal.SIGKILL)
            await until(lambda: vllm.restarts == restarts and vllm.state is VllmState.UP)  # noqa: B023
    assert supervision.count("Restarting it in 0.05 s.") == 2


async def test_killed_in_the_middle_of_a_later_start_it_is_started_again(
    supervision: FakeSupervision, until: Until
) -> None:
    async with supervision.vllm() as vllm:
        supervision.fake.set(never_healthy=True)
        os.kill(supervision.fake.life.api, signal.SIGKILL)
        await until(lambda: len(supervision.fake.lives) == 2)
        with pytest.raises(EngineUnavailable):
            vllm.require_ready()
        supervision.fake.set()
        os.kill(supervision.fake.life.api, signal.SIGKILL)
        await until(lambda: vllm.state is VllmState.UP)
        assert len(supervision.fake.lives) == 3


async def test_stopped_in_the_middle_of_a_later_start_nothing_is_left(
    supervision: FakeSupervision, until: Until
) -> None:
    async with supervision.vllm():
        supervision.fake.set(never_healthy=True)
        os.kill(supervision.fake.life.api, signal.SIGKILL)
        await until(lambda: len(supervision.fake.lives) == 2)
    assert not alive(supervision.fake.life.api)


async def test_one_who_does_not_heed_is_killed_at_the_end(supervision: FakeSupervision) -> None:
    supervision.fake.set(ignore_sigterm=True)
    async with supervision.vllm(timeouts=replace(HASTY, stop=0.3)):
        pass
    assert not alive(supervision.fake.life.api)


async def test_on_up_runs_before_it_counts_as_up_each_time(supervision: FakeSupervision, until: Until) -> None:
    states: list[VllmState] = []

    async def on_up() -> None:
        assert (await ask(vllm, "/models")).status_code == 200
        states.append(vllm.state)

    vllm = supervision.vllm(on_up=on_up)
    async with vllm:
        os.kill(supervision.fake.life.api, signal.SIGKILL)
        await until(lambda: vllm.restarts and vllm.state is VllmState.UP)
    assert states == [VllmState.STARTING, VllmState.STARTING]


async def test_on_up_that_fails_is_an_error_at_first_and_told_later(supervision: FakeSupervision, until: Until) -> None:
    broken = True

    async def on_up() -> None:
        if broken:
            raise LookupError("the adapter is gone")

    with pytest.raises(LookupError):
        async with supervision.vllm(on_up=on_up):
            pass
    broken = False
    async with supervision.vllm(on_up=on_up) as vllm:
        broken = True
        os.kill(supervision.fake.life.api, signal.SIGKILL)
        await until(lambda: vllm.restarts and vllm.state is VllmState.UP)
        assert supervision.count("restoring its adapters failed: the adapter is gone") == 1


async def test_death_in_the_middle_of_on_up_is_noticed(supervision: FakeSupervision) -> None:
    async def on_up() -> None:
        os.kill(supervision.fake.life.api, signal.SIGKILL)
        await asyncio.Event().wait()

    with pytest.raises(ModelError, match="killed by SIGKILL"):
        async with supervision.vllm(on_up=on_up):
            pass


async def test_a_proxy_is_not_asked(supervision: FakeSupervision, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with supervision.vllm() as vllm:
        assert vllm.state is VllmState.UP


@pytest.fixture
def service(fake: Fake) -> Iterator[subprocess.Popen[str]]:
    """Our own process, with a fake vLLM up."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVICE, str(fake.python)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "up\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
async def test_when_we_are_killed_nothing_is_left(
    service: subprocess.Popen[str], fake: Fake, until: Until, number: signal.Signals
) -> None:
    reaper = os.getsid(fake.life.api)
    service.send_signal(number)
    await until(lambda: not any(alive(pid) for pid in (reaper, fake.life.api, fake.life.engine)))


async def test_ctrl_c_in_a_terminal_reaches_us_alone(service: subprocess.Popen[str], fake: Fake) -> None:
    os.killpg(service.pid, signal.SIGINT)  # as a terminal does
    said, complaint = service.communicate(timeout=300)
    assert said == "200\n", complaint
    assert not alive(fake.life.api)
    assert not alive(fake.life.engine)


async def test_when_we_are_killed_while_it_starts_nothing_is_left(fake: Fake, until: Until) -> None:
    fake.set(never_healthy=True)
    process = subprocess.Popen([sys.executable, "-c", SERVICE, str(fake.python)])  # noqa: ASYNC220
    await until(lambda: fake.lives)
    process.kill()
    process.wait()
    await until(lambda: not any(alive(pid) for pid in (fake.life.api, fake.life.engine)))


async def test_the_fake_loads_adapters_as_vllm_does(supervision: FakeSupervision, tmp_path: Path) -> None:
    adapter = {"lora_name": "poet", "lora_path": str(tmp_path)}
    async with supervision.vllm() as vllm:
        loaded = await ask(vllm, "/load_lora_adapter", adapter)
        assert (loaded.status_code, loaded.text) == (200, "Success: LoRA adapter 'poet' added successfully.")
        again = await ask(vllm, "/load_lora_adapter", adapter)
        assert (again.status_code, again.json()["error"]["type"]) == (400, "InvalidUserInput")
        nowhere = await ask(vllm, "/load_lora_adapter", {"lora_name": "x", "lora_path": "/no/such"})
        assert (nowhere.status_code, nowhere.json()["error"]["type"]) == (404, "NotFoundError")
        cards = (await ask(vllm, "/models")).json()["data"]
        assert [(card["id"], card["parent"], card["max_model_len"]) for card in cards] == [
            ("base", None, 2048),
            ("poet", "base", None),
        ]
        message = {"role": "user", "content": "<translation>\nThe MT.\n</translation>"}
        answer = await ask(vllm, "/chat/completions", {"model": "poet", "messages": [message]})
        assert answer.json()["choices"][0]["message"]["content"] == "The MT."
        supervision.fake.set(load_error="CUDA out of memory", load_status=500)
        failed = await ask(vllm, "/load_lora_adapter", {"lora_name": "y", "lora_path": str(tmp_path)})
        assert (failed.status_code, failed.json()["error"]["message"]) == (500, "CUDA out of memory")
        assert (await ask(vllm, "/unload_lora_adapter", {"lora_name": "poet"})).status_code == 200
        assert (await ask(vllm, "/unload_lora_adapter", {"lora_name": "poet"})).status_code == 404
        gone = await ask(vllm, "/completions", {"model": "poet", "prompt": "x"})
        assert (gone.status_code, gone.json()["error"]["param"]) == (404, "model")
