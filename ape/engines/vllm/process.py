"""Run a command under a reaper process, so that all of its processes end with it, with us, or on request.

    python process.py GRACE_SECONDS COMMAND…

vLLM consists of several processes: an API server, engine cores, workers. A signal reaches one of them, and `kill -9` of
that one leaves the others running with the GPU's memory. Therefore a small process, the reaper, is their parent. It
stops the command when its standard input, a socket to our process, is closed for any reason, and on SIGTERM, SIGINT and
SIGHUP; SIGQUIT kills at once. As a Linux child subreaper it inherits orphans of the command, so none escapes. If the
reaper itself is killed, the command gets SIGTERM, and our process ends the rest, which it finds by their session.

`SupervisedProcess` is our side. The reaper runs as a file on the standard library alone (`python -I -S`), so it
depends on nothing.
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
# How long the reaper may take to clean up after the grace period; a longer one is stuck.
_MAX_CLEANUP_SECONDS = 20.0
# Longest delay from a broken connection to the notice of an exit, and from there to the end of the log.
_EXIT_NOTICE_SECONDS = 0.5
# Columns of /proc/PID/stat after the name, which may hold spaces and parentheses.
_STATE, _PARENT, _SESSION = 0, 1, 3
_ANSI = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")


class ProcessEnded(Exception):
    """The command has exited; the message says how."""


class SupervisedProcess:
    """A command under a reaper; `log_line` gets its output line by line.

    It runs in a session of its own, so Ctrl-C in our terminal does not reach it.
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
        """Start the command; `grace` is how many seconds it gets to stop by itself."""
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._name = name
        self._log_line = log_line
        self._grace = grace
        with ExitStack() as closing:
            self._control_socket, theirs = (closing.enter_context(end) for end in socket.socketpair())
            self._control_socket.setblocking(False)
            # Not asyncio's: it reports no exit while another process holds the inherited pipe of the log.
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
        self._exit_task = asyncio.create_task(self._wait_for_exit_notice())
        self._reaper_exit = asyncio.create_task(self._wait_for_reaper())
        self._log_task = asyncio.create_task(self._forward_log())

    async def exits_within(self, seconds: float) -> bool:
        """Whether the command exits within that time."""
        await asyncio.wait({self._exit_task}, timeout=seconds)
        return self._exit_task.done()

    async def run_until_exit(self, work: Awaitable[None]) -> None:
        """Await `work`; raise ProcessEnded if the command exits first, or if its exit made the work fail."""
        doing = asyncio.ensure_future(work)
        try:
            await asyncio.wait({doing, self._exit_task}, return_when=asyncio.FIRST_COMPLETED)
            if self._exit_task.done() or (doing.exception() and await self.exits_within(_EXIT_NOTICE_SECONDS)):
                raise ProcessEnded(await self.exit_description())
            await doing
        finally:
            doing.cancel()
            await asyncio.gather(doing, return_exceptions=True)

    async def exit_description(self) -> str:
        """How the command exited, as a sentence; waits for all of its processes and the end of its log."""
        code = await asyncio.shield(self._reaper_exit)
        await asyncio.wait({self._log_task}, timeout=_EXIT_NOTICE_SECONDS)
        if code < 0:
            return f"The reaper of {self._name} was killed by {_signal(-code)}."
        if code > 128 and _signal(code - 128):
            memory = " (possibly by the system, out of memory)" if code - 128 == signal.SIGKILL else ""
            return f"{self._name} was killed by {_signal(code - 128)}{memory}."
        return f"{self._name} stopped with exit code {code}."

    async def stop(self, *, immediately: bool = False) -> None:
        """Stop all processes and wait until none is left; a cancelled caller kills them and still waits."""
        ending = asyncio.create_task(self._end(immediately=immediately))
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            self._request_stop(immediately=True)
            # Killing is quick, and nobody else would clean up: wait even if cancelled again.
            while not ending.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait({ending})
            raise

    async def _end(self, *, immediately: bool) -> None:
        self._request_stop(immediately=immediately)
        await asyncio.wait({self._reaper_exit}, timeout=self._grace + _MAX_CLEANUP_SECONDS)
        self._process.kill()  # still there: it is stuck, so its processes are ours to end
        if await self._reaper_exit < 0:
            await self._end_session(0.0 if immediately else self._grace)
        await asyncio.wait({self._log_task}, timeout=_EXIT_NOTICE_SECONDS)
        for task in (self._log_task, self._exit_task):
            task.cancel()
        await asyncio.gather(self._log_task, self._exit_task, return_exceptions=True)
        self._control_socket.close()

    def _request_stop(self, *, immediately: bool) -> None:
        with suppress(OSError):  # closed already
            self._control_socket.shutdown(socket.SHUT_WR)
        if immediately:
            self._process.send_signal(_KILL_SIGNAL)

    async def _end_session(self, grace: float) -> None:
        """End the processes of a reaper that was killed; they have got SIGTERM already."""
        began = time.monotonic()
        while left := _live_processes_of_session(self._process.pid):
            waited = time.monotonic() - began
            if waited >= grace + _MAX_CLEANUP_SECONDS:
                self._log_line(f"The processes {left} of {self._name} can't be killed and are left behind.")
                return
            if waited >= grace:
                for pid in left:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0.05)

    async def _wait_for_exit_notice(self) -> None:
        """Wait for the byte that the reaper sends when the command has exited, or for the end of the socket."""
        await asyncio.get_running_loop().sock_recv(self._control_socket, 1)

    async def _wait_for_reaper(self) -> int:
        """The exit code of the reaper, which exits last."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        handle = os.pidfd_open(self._process.pid)
        loop.add_reader(handle, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(handle)
            os.close(handle)
        return self._process.wait()

    async def _forward_log(self) -> None:
        """Read until all writers are gone: a full pipe would block the command."""
        loop, reader, cutter = asyncio.get_running_loop(), asyncio.StreamReader(), _LogLineSplitter()
        pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), self._process.stdout)
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
    """Split output into printable lines: no escape sequences or control characters, none empty or too long."""

    def __init__(self) -> None:
        self._rest = b""

    def lines(self, chunk: bytes) -> Iterator[str]:
        """The lines that this chunk completes; of a progress bar, its last state."""
        *lines, rest = (self._rest + chunk).split(b"\n")
        # A trailing carriage return may be the first half of a line end.
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
    """Run the command under this reaper; the exit code is the command's, or 128 + n for signal n."""
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
        os.write(0, b".")  # the parent learns it before the cleanup
    _kill_orphans()
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _prepare_child(reaper: int) -> None:
    """In the child: unblock all signals, and get SIGTERM if the reaper is killed."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != reaper:  # it was killed before the call above
        os._exit(1)


def _stop_when_parent_closes_stdin() -> None:
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    os.kill(os.getpid(), signal.SIGTERM)


def _wait_for_exit(child: int, *, grace: float, parent: int) -> int:
    """Wait for the command. The first request to stop is passed on; after the grace period it is killed."""
    kill_at = None
    while (ended := _reap().get(child)) is None:
        heard = signal.sigtimedwait(_HANDLED_SIGNALS, _LOOK_EVERY_SECONDS)
        number = heard.si_signo if heard else None
        now = time.monotonic()
        # The parent may die while a child of its own keeps the socket open.
        if kill_at is None and (number in _STOP_SIGNALS or os.getppid() != parent):
            os.kill(child, signal.SIGTERM)
            kill_at = now + grace
        if number == _KILL_SIGNAL or (kill_at is not None and now >= kill_at):
            os.kill(child, signal.SIGKILL)
    return ended


def _reap() -> dict[int, int]:
    """Exit codes by pid of the children that have exited, inherited orphans included."""
    ended = {}
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended[found[0]] = os.waitstatus_to_exitcode(found[1])
    return ended


def _kill_orphans() -> None:
    """Kill what the command left running. Orphans become our children, one generation after the other.

    Python's resource trackers are spared for a while: they free the shared memory of the others, and then exit.
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
    """The processes of a session, zombies excluded; its id is the pid of its first process."""
    return [pid for pid, stat in _processes() if int(stat[_SESSION]) == session and stat[_STATE] != "Z"]


def _processes() -> Iterator[tuple[int, list[str]]]:
    """All visible processes, with the columns of /proc/PID/stat."""
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError):  # gone in the meantime
                yield int(place.name), (place / "stat").read_text(errors="replace").rpartition(")")[2].split()


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
