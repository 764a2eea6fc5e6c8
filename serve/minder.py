"""Mind a command: it and all that it started are gone when it ends, when we are told to stop, or when our parent dies.

    python -m serve.minder GRACE_SECONDS COMMAND…

vLLM is a family of processes: an API server, engine cores, workers. A signal reaches one of them, and `kill -9` lets
the others live on with the GPU's memory. So this small process stands between. It holds a pipe from its parent, and
the end of that pipe, however it came about, is the order to stop. Linux gives it the orphans of the family, so that
none gets away. It uses the standard library alone, to be up in no time.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LOOK_EVERY_SECONDS = 0.2
_STOPS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
_LIBC = ctypes.CDLL(None)


def main(arguments: list[str]) -> int:
    """Run the command to its end or ours; the exit code is the command's, or 128 + n when signal n ended it."""
    grace, command = float(arguments[0]), arguments[1:]
    signal.pthread_sigmask(signal.SIG_BLOCK, {*_STOPS, signal.SIGCHLD})
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    child = subprocess.Popen(  # noqa: S603 - our parent's own command
        command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_as_child
    )
    threading.Thread(target=_stop_at_the_end_of_the_pipe, daemon=True).start()
    while child.poll() is None:
        told = signal.sigtimedwait({*_STOPS, signal.SIGCHLD}, _LOOK_EVERY_SECONDS)
        if told and told.si_signo in _STOPS:
            _end(child, grace)
    _sweep()
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _as_child() -> None:
    """Before the command takes over: hear all signals again, and die should the minder itself be killed."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _stop_at_the_end_of_the_pipe() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _end(child: subprocess.Popen[bytes], grace: float) -> None:
    """Ask the command to stop, and do not ask twice."""
    child.terminate()
    with suppress(subprocess.TimeoutExpired):
        child.wait(grace)
        return
    child.kill()
    child.wait()


def _sweep() -> None:
    """Kill what the command left behind. Orphans become our children, one generation after the other."""
    while children := _children():
        for pid in children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


def _children() -> list[int]:
    tasks = Path(f"/proc/{os.getpid()}/task")
    return [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
