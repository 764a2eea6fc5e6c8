"""Mind a command: it and all that it started are gone when it ends, when we are told to stop, or when our parent dies.

    python minder.py GRACE_SECONDS COMMAND…

vLLM is a family of processes: an API server, engine cores, workers. A signal reaches one of them, and `kill -9` of that
one lets the others live on with the GPU's memory. So a small process stands between, the minder. Its standard input is
a line to its parent, and the end of that line, however it came about, is the order to stop, as are SIGTERM, SIGINT and
SIGHUP; SIGQUIT is the order not to wait. Linux gives it the orphans of the family, so that none gets away. Should it be
killed itself, the command gets SIGTERM, and the parent looks after the others, whom it knows by their session.

`Minded` is the parent's side. The minder runs as a file, on the standard library alone and isolated from the
environment, so that it depends on nothing.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

TAIL_LINES = 40
MAX_LINE_CHARACTERS = 4000
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LOOK_EVERY_SECONDS = 0.2
_STOP_SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
_KILL_SIGNAL = signal.SIGQUIT
_HANDLED_SIGNALS = frozenset({*_STOP_SIGNALS, _KILL_SIGNAL, signal.SIGCHLD})
_CAN_NOT_START = 127
_ORPHAN_SECONDS = 3.0
# Beyond its grace, for a minder to sweep up; one that takes longer is stuck.
_MAX_CLEANUP_SECONDS = 20.0
# From a broken connection to the news that a process has ended, and from there to its last words.
_EXIT_NOTICE_SECONDS = 0.5
# Columns of /proc/PID/stat after the name, which may hold spaces and parentheses.
_STATE, _PARENT, _SESSION = 0, 1, 3
_ANSI = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")


class ProcessEnded(Exception):
    """The command has ended, and so has what was done with it; the message says how."""


class SupervisedProcess:
    """A command that is process, and the log it writes, which `tell` gets line by line.

    It has a session of its own: Ctrl-C in our terminal does not reach it.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        name: str,
        log_line: Callable[[str], None],
        grace: float,
    ) -> None:
        """Start the minder on the command; `grace` is the seconds that it gets to stop by itself."""
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._name = name
        self._log_line = log_line
        self._grace = grace
        with ExitStack() as closing:
            self._control_socket, theirs = (closing.enter_context(end) for end in socket.socketpair())
            self._control_socket.setblocking(False)
            # Not asyncio's: there, who inherited the log's pipe and lives on can hide that the process has ended.
            self._process = subprocess.Popen(  # noqa: S603 - our caller's own command
                [sys.executable, "-I", "-S", __file__, f"{grace:g}", *command],
                stdin=theirs.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
            closing.pop_all()
        theirs.close()
        self._exit_task = asyncio.create_task(self._hear_of_its_end())
        self._swept = asyncio.create_task(self._wait_for_the_minder())
        self._logged = asyncio.create_task(self._pass_the_log_on())

    async def exits_within(self, seconds: float) -> bool:
        """Wait for the command's end, so long at most, and say whether it came."""
        await asyncio.wait({self._exit_task}, timeout=seconds)
        return self._exit_task.done()

    async def run_until_exit(self, work: Awaitable[None]) -> None:
        """Do the work, or raise Ended once the command has; if the work fails, that may be the reason."""
        doing = asyncio.ensure_future(work)
        try:
            await asyncio.wait({doing, self._exit_task}, return_when=asyncio.FIRST_COMPLETED)
            if self._exit_task.done() or (
                doing.exception() and await self.exits_within(_EXIT_NOTICE_SECONDS)
            ):
                raise ProcessEnded(await self.exit_description())
            await doing
        finally:
            doing.cancel()
            await asyncio.gather(doing, return_exceptions=True)

    async def exit_description(self) -> str:
        """A sentence, once it has ended with all that it started, and its last words are in."""
        code = await asyncio.shield(self._swept)
        await asyncio.wait({self._logged}, timeout=_EXIT_NOTICE_SECONDS)
        if code < 0:
            return f"The minder of {self._name} was killed by {_signal(-code)}."
        if code > 128 and _signal(code - 128):
            memory = " (by the system, for want of memory?)" if code - 128 == signal.SIGKILL else ""
            return f"{self._name} was killed by {_signal(code - 128)}{memory}."
        return f"{self._name} stopped with exit code {code}."

    async def stop(self, *, immediately: bool = False) -> None:
        """End all of it, and come back when nothing is left; who is cancelled meanwhile has it killed."""
        ending = asyncio.create_task(self._end(immediately=immediately))
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            self._order(immediately=True)
            # Killing is over soon, and who is cancelled once more waits for that too: nobody else would sweep.
            while not ending.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait({ending})
            raise

    async def _end(self, *, immediately: bool) -> None:
        self._order(immediately=immediately)
        await asyncio.wait({self._swept}, timeout=self._grace + _MAX_CLEANUP_SECONDS)
        self._process.kill()  # if it is still there it is stuck, and its family ours to sweep
        if await self._swept < 0:
            await self._sweep(0.0 if immediately else self._grace)
        await asyncio.wait({self._logged}, timeout=_EXIT_NOTICE_SECONDS)
        for task in (self._logged, self._exit_task):
            task.cancel()
        await asyncio.gather(self._logged, self._exit_task, return_exceptions=True)
        self._control_socket.close()

    def _order(self, *, immediately: bool) -> None:
        with suppress(OSError):  # the line is closed already
            self._control_socket.shutdown(socket.SHUT_WR)
        if immediately:
            self._process.send_signal(_KILL_SIGNAL)

    async def _sweep(self, grace: float) -> None:
        """Do what a minder that was killed can't do: wait for the others in its session, who were told to stop."""
        asked = time.monotonic()
        while left := _live_processes_of_session(self._process.pid):
            waited = time.monotonic() - asked
            if waited >= grace + _MAX_CLEANUP_SECONDS:
                self._log_line(f"The processes {left} of {self._name} can't be killed and are left behind.")
                return
            if waited >= grace:
                for pid in left:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0.05)

    async def _hear_of_its_end(self) -> None:
        """The minder says a word when the command has ended, and its death ends the line."""
        await asyncio.get_running_loop().sock_recv(self._control_socket, 1)

    async def _wait_for_the_minder(self) -> int:
        """Its exit code; it ends last."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        handle = os.pidfd_open(self._process.pid)
        loop.add_reader(handle, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(handle)
            os.close(handle)
        return self._process.wait()

    async def _pass_the_log_on(self) -> None:
        """Read for as long as anyone writes: a pipe that is full would hold the command up."""
        loop, reader, cutter = asyncio.get_running_loop(), asyncio.StreamReader(), _LogLineSplitter()
        pipe, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), self._process.stdout
        )
        try:
            while chunk := await reader.read(2**16):
                self._log(cutter.lines(chunk))
            self._log(cutter.lines(b"\n"))
        finally:
            pipe.close()

    def _log(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.tail.append(line)
            self._log_line(line)


class _LogLineSplitter:
    """Cuts what a process writes into lines fit to be shown: no colours, no bells, none empty, none without end."""

    def __init__(self) -> None:
        self._rest = b""

    def lines(self, chunk: bytes) -> Iterator[str]:
        """The lines that this chunk completes; of a progress bar its last state counts."""
        *lines, rest = (self._rest + chunk).split(b"\n")
        # A carriage return at the very end may be half of a line's end.
        self._rest = rest[rest.rstrip(b"\r").rfind(b"\r") + 1 :][: 2 * MAX_LINE_CHARACTERS]
        return filter(None, map(_printable, lines))


def _printable(line: bytes) -> str:
    plain = _ANSI.sub(b"", line.rstrip().rpartition(b"\r")[2])
    text = _CONTROL.sub("", plain.decode(errors="replace"))
    return text if len(text) <= MAX_LINE_CHARACTERS else f"{text[:MAX_LINE_CHARACTERS]} …"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""


def main(arguments: list[str]) -> int:
    """Run the command to its end or ours; the exit code is the command's, or 128 + n when signal n ended it."""
    grace, command = float(arguments[0]), arguments[1:]
    parent, us = os.getppid(), os.getpid()
    signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED_SIGNALS)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        child = subprocess.Popen(  # noqa: S603 - our parent's own command
            command, stdin=subprocess.DEVNULL, preexec_fn=lambda: _prepare_child(us)
        )
    except OSError as error:
        sys.stderr.write(f"{command[0]} can't be started: {error.strerror}\n")
        return _CAN_NOT_START
    threading.Thread(target=_stop_when_parent_closes_stdin, daemon=True).start()
    child.returncode = _wait_for_exit(child.pid, grace=grace, parent=parent)
    with suppress(OSError):
        os.write(0, b".")  # the parent need not wait for the news until all is swept
    _kill_orphans()
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _prepare_child(minder: int) -> None:
    """Before the command takes over: hear all signals again, and be told to stop should the minder be killed."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != minder:  # it was killed before we asked
        os._exit(1)


def _stop_when_parent_closes_stdin() -> None:
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    os.kill(os.getpid(), signal.SIGTERM)


def _wait_for_exit(child: int, *, grace: float, parent: int) -> int:
    """Wait for the command. The first order to stop is passed on, and once the grace is over it is killed."""
    kill_at = None
    while (ended := _reap().get(child)) is None:
        heard = signal.sigtimedwait(_HANDLED_SIGNALS, _LOOK_EVERY_SECONDS)
        number = heard.si_signo if heard else None
        now = time.monotonic()
        # A parent may die and yet leave its end of the line open in a child of its own.
        if kill_at is None and (number in _STOP_SIGNALS or os.getppid() != parent):
            os.kill(child, signal.SIGTERM)
            kill_at = now + grace
        if number == _KILL_SIGNAL or (kill_at is not None and now >= kill_at):
            os.kill(child, signal.SIGKILL)
    return ended


def _reap() -> dict[int, int]:
    """The exit codes, by pid, of those children that have ended, adopted ones too."""
    ended = {}
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended[found[0]] = os.waitstatus_to_exitcode(found[1])
    return ended


def _kill_orphans() -> None:
    """Kill what the command left behind. Orphans become our children, one generation after the other.

    Python's resource trackers are spared for a while: once the others are dead they free the shared memory that
    those held, which nobody else would, and end by themselves.
    """
    us, spared_until = os.getpid(), time.monotonic() + _ORPHAN_SECONDS
    while children := [pid for pid, stat in _processes() if int(stat[_PARENT]) == us]:
        for pid in children:
            if time.monotonic() >= spared_until or not _is_tracker(pid):
                os.kill(pid, signal.SIGKILL)  # only we can reap it, so the pid is still its own
        _reap()
        time.sleep(0.05)


def _is_tracker(pid: int) -> bool:
    return b"multiprocessing.resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()


def _live_processes_of_session(session: int) -> list[int]:
    """The processes of a session, which is called by the pid of the one that began it; zombies do not live."""
    return [pid for pid, stat in _processes() if int(stat[_SESSION]) == session and stat[_STATE] != "Z"]


def _processes() -> Iterator[tuple[int, list[str]]]:
    """Every process that we can see, with the columns of its stat."""
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError):  # gone in the meantime
                yield int(place.name), (place / "stat").read_text(errors="replace").rpartition(")")[2].split()


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
