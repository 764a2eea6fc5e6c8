"""Calls in processes that can be given up, so that no file and no pattern of a user holds up the service or others.

Work that hangs can't be stopped in a thread, and takes turns with the event loop. A process can be killed: when its
time is over, when it takes too much memory, when the client hangs up, and when the service stops.
"""

from __future__ import annotations

import asyncio
import logging
import math
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TypeVar, TypeVarTuple

from ape.errors import ApeError
from serve.scheduler.owner_turns import OwnerTurns

log = logging.getLogger("ape.serve")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

# The modules that have the functions: they are imported once, and not for each process.
_PRELOADED = ("serve.scheduler.book_planner", "serve.scheduler.book_search", "serve.scheduler.names_reader")
# Such work gives way to requests and to the paragraphs of books; that of an owner who had much, to that of others, too.
NICENESS = 10
LOWEST_NICENESS = 19
# How much an owner may have at the better niceness, and after how long half of what it had is forgotten.
FAVOURED_SECONDS = 5.0
HALF_LIFE_SECONDS = 60.0
# After this a process ends by itself, if the service was killed and can't end it.
ALARM_MARGIN_SECONDS = 10


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """How long a process may run, and how much memory it may take."""

    seconds: float
    bytes: int


class OutOfMemory(Exception):
    """The process took more memory than it may, or was killed by the system for that."""


class RecentUse:
    """The seconds that each owner had of late. What is long ago counts less and less."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._used: dict[str, tuple[float, float]] = {}

    def seconds(self, owner: str) -> float:
        """The seconds of an owner."""
        seconds, at = self._used.get(owner, (0.0, 0.0))
        return seconds * math.exp2((at - self._clock()) / HALF_LIFE_SECONDS)

    def add(self, owner: str, seconds: float) -> None:
        """Count more seconds, and forget owners who had next to nothing of late."""
        self._used[owner] = (self.seconds(owner) + seconds, self._clock())
        self._used = {name: used for name, used in self._used.items() if self.seconds(name) > 0.01}


class ProcessCalls:
    """Calls functions in processes, few at once and one for each owner, each within some seconds and bytes.

    The functions and their arguments are pickled. `name` is that of the processes.
    """

    def __init__(self, name: str, *, at_once: int, of_owner: int = 1) -> None:
        self._name = name
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(list(_PRELOADED))
        self._free = asyncio.Semaphore(at_once)
        self._turns = OwnerTurns(of_owner)
        self._used = RecentUse()
        self._tasks: set[asyncio.Task[object]] = set()

    async def call(self, owner: str, limits: ProcessLimits, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Call the function in a process; cancelling this ends it.

        Raises TimeoutError when the time is over, OutOfMemory, or the ApeError that the function raised.
        """
        async with self._turns.turn(owner), self._free:
            niceness = LOWEST_NICENESS if self._used.seconds(owner) > FAVOURED_SECONDS else NICENESS
            task = asyncio.create_task(self._run(limits, niceness, function, args))
            self._tasks.add(task)
            began = time.monotonic()
            try:
                return await task
            finally:
                self._used.add(owner, time.monotonic() - began)
                task.cancel()
                with suppress(asyncio.CancelledError, ApeError, TimeoutError, OutOfMemory):
                    await task
                self._tasks.discard(task)

    def close(self) -> None:
        """Give up all calls: they are cancelled."""
        for task in self._tasks:
            task.cancel()

    async def _run(self, limits: ProcessLimits, niceness: int, function: Callable[[*Ts], T], args: tuple[*Ts]) -> T:
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(
            target=_answer, args=(sender, limits, niceness, function, args), name=self._name, daemon=True
        )
        loop, answered = asyncio.get_running_loop(), asyncio.Event()
        starting = asyncio.ensure_future(asyncio.to_thread(process.start))
        try:
            await asyncio.shield(starting)
            sender.close()
            loop.add_reader(receiver.fileno(), answered.set)
            async with asyncio.timeout(limits.seconds):
                await answered.wait()
            # In a thread: an answer may be large, and its sender slow.
            answer: T | ApeError = await asyncio.to_thread(receiver.recv)
        except EOFError as error:
            raise OutOfMemory from error
        finally:
            loop.remove_reader(receiver.fileno())
            with suppress(OSError):
                await asyncio.shield(starting)  # a process that is about to start must end, too
            process.kill()
            await asyncio.shield(asyncio.to_thread(process.join))
            process.close()
            receiver.close()
            sender.close()
        if isinstance(answer, ApeError):
            raise answer
        return answer


def _answer(
    sender: Connection, limits: ProcessLimits, niceness: int, function: Callable[[*Ts], T], args: tuple[*Ts]
) -> None:
    """Call the function and send its value, or the error. Sends nothing where memory runs out."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(limits.seconds) + ALARM_MARGIN_SECONDS)
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, max(niceness, os.getpriority(os.PRIO_PROCESS, 0)))
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (limits.bytes, limits.bytes))
    answer: T | ApeError
    try:
        answer = function(*args)
    except ApeError as error:
        answer = error
    except MemoryError:
        return
    except Exception as error:
        log.error("unexpected %s in a process of its own", type(error).__name__, exc_info=error)
        answer = ApeError("An unexpected error occurred; see the service log.")
    with suppress(MemoryError):
        sender.send(answer)
