"""Start vLLM and keep it running: its log, its health checks, and its restarts.

It may run in another environment. It listens on a reserved loopback port with its own key, under a reaper process
(ape/engines/vllm/process.py), so that all of its processes end when it dies, when we stop, and when we are killed. It
runs in its own session: Ctrl-C in a terminal reaches only us, and requests in progress can be finished first.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Self

import httpx2

from ape.engines import EngineHealth
from ape.engines.vllm.launch import LOOPBACK, VllmBuild, VllmLaunch, require_vllm
from ape.engines.vllm.process import ProcessEnded, SupervisedProcess
from ape.errors import EngineUnavailable, ModelError

LOG_PREFIX = "vllm | "
PORTS_TRIED = 3
PORT_TAKEN_MESSAGE = "address already in use"
# Health checks during a start are short: another process may hold the port without answering.
_START_POLL_SECONDS, _START_CHECK_SECONDS = 0.25, 2.0
_CHECK_SECONDS = 10.0
_UNKNOWN_START_SECONDS = 60.0
_HEALTH_CHECK_LINE = re.compile(r'"GET /health HTTP/1\.\d" 200')


class VllmState(StrEnum):
    """State of the vLLM process."""

    STARTING = "starting"
    UP = "up"
    DOWN = "down"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class VllmTimeouts:
    """Timeouts in seconds.

    `poll`: between health checks; `unresponsive`: without an answer until it is killed; `first_wait`, doubled up to
    `longest_wait`: before a restart; `stable`: uptime that resets this wait; `stop`: to stop by itself; `progress`:
    between log lines about a slow start.
    """

    poll: float = 2.0
    unresponsive: float = 60.0
    first_wait: float = 1.0
    longest_wait: float = 60.0
    stable: float = 300.0
    stop: float = 10.0
    progress: float = 10.0


def reserve_port() -> socket.socket:
    """Reserve a free loopback port: bound without listening, it is not handed out as a free port.

    vLLM sets SO_REUSEADDR as we do, so it can still listen there.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((LOOPBACK, 0))
    return held


class VllmSupervisor:
    """A vLLM process of ours, restarted when it dies.

    `log_line` gets its log and ours. `on_up` runs after each start, before requests are accepted. `url` and `key`
    change with each start. `why` is a sentence: the last reason for not being up.
    """

    def __init__(
        self,
        launch: VllmLaunch,
        *,
        log_line: Callable[[str], None],
        on_up: Callable[[], Awaitable[None]] | None = None,
        timeouts: VllmTimeouts | None = None,
        hold: Callable[[], socket.socket] = reserve_port,
    ) -> None:
        launch.refuse_managed_flags()
        self.launch = launch
        self.max_lora_rank = launch.max_lora_rank
        self.max_loras = launch.max_loras
        self.key = secrets.token_urlsafe(32)
        self.url = ""
        self.state = VllmState.STARTING
        self.restarts = 0
        self.why = "vLLM has not been up yet."
        self._log_line = log_line
        self._on_up = on_up
        self._timeouts = timeouts or VllmTimeouts()
        self._hold = hold
        self._process: SupervisedProcess | None = None
        self._restart_task: asyncio.Task[None] | None = None
        self._start_took = _UNKNOWN_START_SECONDS
        self._up_by = 0.0
        self._build: VllmBuild = "other"

    async def __aenter__(self) -> Self:
        self._build = await require_vllm(self.launch.python)
        self._client = httpx2.AsyncClient(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0))
        try:
            await self._start_first()
        except BaseException:
            await self._stop()
            raise
        self._restart_task = asyncio.create_task(self._restart_loop())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    def health(self) -> EngineHealth:
        """State and number of restarts."""
        return EngineHealth(self.state.value, self.restarts)

    def require_ready(self) -> None:
        """Raise EngineUnavailable unless it is up, with the estimated seconds until it is."""
        if self.state is VllmState.UP:
            return
        if self.state is VllmState.STOPPED:
            raise EngineUnavailable("vLLM is stopped.")
        wait = max(1.0, self._up_by - time.monotonic())
        raise EngineUnavailable(f"{self.why} It is being started; retry in about {wait:.0f} s.", retry_after=wait)

    async def _start_first(self) -> None:
        tries = PORTS_TRIED
        while self.state is not VllmState.UP:
            tries -= 1
            try:
                await self._start(first=True)
            except ProcessEnded as error:
                self.why = str(error)
                if tries and self._process and any(PORT_TAKEN_MESSAGE in line.lower() for line in self._process.tail):
                    self._log(f"{self.why} Its port was taken: trying another one.")
                    continue
                kind = EngineUnavailable if isinstance(error, _StartTimeout) else ModelError
                raise kind(f"{self.why}{self._log_tail()}") from error

    async def _start(self, *, first: bool) -> None:
        """Start it and wait until it is up; after a failure nothing is left running."""
        began = time.monotonic()
        self.state = VllmState.STARTING
        self._up_by = began + self._start_took
        with self._hold() as held:
            port = held.getsockname()[1]
            self.url = f"http://{LOOPBACK}:{port}/v1"
            self.key = secrets.token_urlsafe(32)  # another process may listen on the former port
            process = self._process = SupervisedProcess(
                self.launch.command(port, self._build),
                self.launch.environment(self.key),
                name="vLLM",
                log_line=self._forward_line,
                grace=self._timeouts.stop,
            )
            try:
                async with asyncio.timeout(self.launch.start_seconds) as limit:
                    await self._until_healthy(process, began)
                    await self._announce_ready(process, first=first)
            except BaseException as error:
                too_slow = isinstance(error, TimeoutError) and limit.expired()
                await process.stop(immediately=too_slow)
                if too_slow:
                    raise _StartTimeout(f"vLLM was not up within {self.launch.start_seconds:g} s.") from error
                raise
        self._start_took = time.monotonic() - began
        self.state = VllmState.UP
        self._log(f"vLLM is up after {self._start_took:.1f} s.")

    async def _until_healthy(self, process: SupervisedProcess, began: float) -> None:
        logged = began
        while await self._health(_START_CHECK_SECONDS) != httpx2.codes.OK:
            if await process.exits_within(_START_POLL_SECONDS):
                raise ProcessEnded(await process.exit_description())
            if time.monotonic() - logged >= self._timeouts.progress:
                logged = time.monotonic()
                self._log(f"vLLM has been starting for {logged - began:.0f} s …")

    async def _announce_ready(self, process: SupervisedProcess, *, first: bool) -> None:
        """Run on_up. A failure after a restart is logged only: vLLM stays up with something missing."""
        try:
            if self._on_up:
                await process.run_until_exit(self._on_up())
        except Exception as error:
            if first or isinstance(error, ProcessEnded):
                raise
            self._log(f"vLLM is healthy again, but restoring its adapters failed: {error}")

    async def _restart_loop(self) -> None:
        """Monitor it, and restart it whenever it is down."""
        wait = self._timeouts.first_wait
        while True:
            up_since = time.monotonic()
            try:
                await self._wait_for_failure()
            except Exception as error:  # monitoring must never stop
                self._is_down(f"vLLM can't be monitored: {error!r}.")
                if self._process:
                    await self._process.stop(immediately=True)
            if time.monotonic() - up_since >= self._timeouts.stable:
                wait = self._timeouts.first_wait
            while self.state is not VllmState.UP:
                self._is_down(self.why, wait)
                self._log(f"{self.why} Restarting it in {wait:g} s.")
                await asyncio.sleep(wait)
                wait = min(2 * wait, self._timeouts.longest_wait)
                self.restarts += 1
                try:
                    await self._start(first=False)
                except ProcessEnded as error:
                    self.why = str(error)
                except Exception as error:  # for example no free process or file handle, which passes
                    self.why = f"vLLM can't be started: {error!r}."

    async def _wait_for_failure(self) -> None:
        """Check its health until it exits, fails or stops answering; then end its remaining processes."""
        assert self._process
        process, answered = self._process, time.monotonic()
        while not await process.exits_within(self._timeouts.poll):
            health = await self._health(min(_CHECK_SECONDS, self._timeouts.unresponsive))
            silence = time.monotonic() - answered
            if health == httpx2.codes.OK:
                answered = time.monotonic()
            elif health == httpx2.codes.SERVICE_UNAVAILABLE:
                self._is_down("vLLM's engine died.")
                await process.stop()
                return
            elif silence >= self._timeouts.unresponsive:
                self._is_down(f"vLLM did not answer for {silence:.0f} s and was killed.")
                await process.stop(immediately=True)
                return
        self._is_down("vLLM died.")
        await process.stop()
        self.why = await process.exit_description()

    def _is_down(self, why: str, wait: float = 0.0) -> None:
        self.state, self.why = VllmState.DOWN, why
        self._up_by = time.monotonic() + wait + self._start_took

    async def _health(self, seconds: float) -> int | None:
        """The status of /health, or None without an answer within `seconds`."""
        try:
            answer = await self._client.get(self.url.removesuffix("/v1") + "/health", timeout=seconds)
        except (httpx2.HTTPError, OSError):
            return None
        return answer.status_code

    async def _stop(self) -> None:
        self.state = VllmState.STOPPED
        try:
            if self._restart_task:
                self._restart_task.cancel()
                await asyncio.gather(self._restart_task, return_exceptions=True)
        finally:
            if self._process:
                await self._process.stop()
            await self._client.aclose()

    def _log_tail(self) -> str:
        tail = self._process.tail if self._process else ()
        return "\n".join([" The end of its log:", *(f"  {line}" for line in tail)]) if tail else ""

    def _forward_line(self, line: str) -> None:
        if not _HEALTH_CHECK_LINE.search(line):
            self._log(LOG_PREFIX + line)

    def _log(self, line: str) -> None:
        with suppress(Exception):  # a closed stderr must not stop vLLM
            self._log_line(line)


class _StartTimeout(ProcessEnded):
    """It was not up in time, and was stopped."""
