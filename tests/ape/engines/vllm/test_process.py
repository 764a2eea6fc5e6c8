"""The reaper leaves no process behind, however the command, its parent or it itself ends; the log is clean."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import pytest

from ape.engines.vllm import process as reaper
from ape.engines.vllm.process import MAX_LINE_CHARACTERS, TAIL_LINES, ProcessEnded, SupervisedProcess

pytestmark = pytest.mark.subprocess

REAPER = [sys.executable, "-I", "-S", reaper.__file__]
# A parent with a child that ignores SIGTERM and another in its own session.
FAMILY = """
import os, signal, subprocess, sys, time
sleeper = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
children = [subprocess.Popen([sys.executable, "-c", sleeper], start_new_session=own) for own in (False, True)]
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(sys.argv[1] + ".new", "w") as note:
    note.write(" ".join(str(pid) for pid in [os.getpid(), *(child.pid for child in children)]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
"""
# The parent of the reaper, which may be killed; its child may keep the socket open.
PARENT = """
import os, subprocess, sys
reaper = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE)
held = [reaper.stdin.fileno()] if sys.argv[1] == "leaky" else []
sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], pass_fds=held)
print(reaper.pid, sleeper.pid, flush=True)
reaper.wait()
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not true in time"
        time.sleep(0.02)


class ProcessTree:
    """A parent, its reaper, and the processes of the command."""

    def __init__(self, folder: Path, *, grace: str = "0.5", leaky: bool = False, stubborn: bool = False) -> None:
        note = folder / "pids"
        command = [*REAPER, grace, sys.executable, "-c", FAMILY, str(note), *["stubborn"] * stubborn]
        self.parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, "leaky" if leaky else "tight", *command], stdout=subprocess.PIPE, text=True
        )
        assert self.parent.stdout
        self.reaper, self.sleeper = (int(pid) for pid in self.parent.stdout.readline().split())
        wait_for(note.exists)
        self.processes = [int(pid) for pid in note.read_text().split()]

    def is_gone(self) -> bool:
        return not any(alive(pid) for pid in (self.reaper, *self.processes))

    def clear(self) -> None:
        for pid in (self.parent.pid, self.sleeper, self.reaper, *self.processes):
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        self.parent.communicate()


StartTree = Callable[..., ProcessTree]


@pytest.fixture
def start_tree(tmp_path: Path) -> Iterator[StartTree]:
    trees: list[ProcessTree] = []

    def move(**ways: object) -> ProcessTree:
        trees.append(ProcessTree(tmp_path, **ways))  # type: ignore[arg-type]
        return trees[-1]

    yield move
    for tree in trees:
        tree.clear()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_told_to_stop_it_ends_the_whole_family(start_tree: StartTree, sent: signal.Signals) -> None:
    tree = start_tree()
    assert all(alive(pid) for pid in tree.processes)
    os.kill(tree.reaper, sent)
    wait_for(tree.is_gone)


def test_when_its_parent_is_killed_nobody_is_left(start_tree: StartTree) -> None:
    tree = start_tree()
    tree.parent.kill()
    wait_for(tree.is_gone)


def test_when_its_parent_is_killed_and_somebody_holds_the_line_nobody_is_left_either(start_tree: StartTree) -> None:
    tree = start_tree(leaky=True)
    tree.parent.kill()
    wait_for(tree.is_gone)
    assert alive(tree.sleeper)


def test_when_the_command_is_killed_its_children_go_too(start_tree: StartTree) -> None:
    tree = start_tree()
    os.kill(tree.processes[0], signal.SIGKILL)
    wait_for(tree.is_gone)


def test_when_the_reaper_is_killed_the_command_is_told_to_stop(start_tree: StartTree) -> None:
    tree = start_tree()
    os.kill(tree.reaper, signal.SIGKILL)
    wait_for(lambda: not alive(tree.processes[0]))


def test_a_command_that_does_not_heed_is_killed_once_its_grace_is_over(start_tree: StartTree) -> None:
    tree = start_tree(stubborn=True)
    began = time.monotonic()
    os.kill(tree.reaper, signal.SIGTERM)
    wait_for(tree.is_gone)
    assert time.monotonic() - began >= 0.5


@pytest.mark.parametrize("asked_before", [False, True])
def test_told_not_to_wait_it_kills_at_once(start_tree: StartTree, asked_before: bool) -> None:
    tree = start_tree(stubborn=True, grace="600")
    if asked_before:
        os.kill(tree.reaper, signal.SIGTERM)
    os.kill(tree.reaper, signal.SIGQUIT)
    wait_for(tree.is_gone)


@pytest.mark.parametrize(
    ("code", "expected"), [("import sys; sys.exit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 137)]
)
def test_the_exit_code_is_the_commands(code: str, expected: int) -> None:
    with subprocess.Popen([*REAPER, "1", sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        assert process.wait(20) == expected


def test_a_command_that_is_none_is_a_sentence() -> None:
    done = subprocess.run([*REAPER, "1", "/no/such"], input="", capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stderr) == (127, "/no/such can't be started: No such file or directory\n")


def test_an_orphan_that_ends_is_not_kept_as_a_zombie() -> None:
    code = (
        "import os, sys, time\n"
        "middle = os.fork()\n"
        "if not middle:\n"
        "    orphan = os.fork()\n"
        "    if orphan: print(orphan, flush=True)\n"
        "    os._exit(0)\n"
        "os.waitpid(middle, 0)\n"
        "time.sleep(600)"
    )
    command = [*REAPER, "1", sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        orphan = int(process.stdout.readline())
        wait_for(lambda: not Path(f"/proc/{orphan}").exists())
        process.terminate()


def test_shared_memory_of_one_who_was_killed_is_freed() -> None:
    code = (
        "import os\n"
        "from multiprocessing.shared_memory import SharedMemory\n"
        "print(SharedMemory(create=True, size=100).name, flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    command = [*REAPER, "1", sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        name = process.stdout.readline().strip()
        assert process.wait(20) == 137
    with pytest.raises(FileNotFoundError):
        SharedMemory(name)


def begin(code: str, said: list[str], *words: str, grace: float = 1.0) -> SupervisedProcess:
    command = [sys.executable, "-c", code, *words]
    return SupervisedProcess(command, os.environ, name="It", log_line=said.append, grace=grace)


CUT = f"{'x' * MAX_LINE_CHARACTERS} …"
DIRTY_AND_CLEAN = [
    (r"b'one\ntwo\r\n\n  \nthree'", ["one", "two", "three"]),
    (r"b'\x1b[1;36mINFO\x1b[0m \x1b]0;title\x07up\x07\n'", ["INFO up"]),
    (r"b'caf\xe9 \xc3\xa9t\xc3\xa9\n'", ["caf\N{REPLACEMENT CHARACTER} été"]),
    (r"b'10%\r50%\r100%\ndone\n'", ["100%", "done"]),
    (r"b'x' * 5_000 + b'\nnext\n'", [CUT, "next"]),
    (r"b'x' * 5_000_000", [CUT]),
    (r"b'a\tb\n'", ["a\tb"]),
]


@pytest.mark.parametrize(("written", "lines"), DIRTY_AND_CLEAN)
async def test_whatever_it_writes_comes_as_clean_lines(written: str, lines: list[str]) -> None:
    said: list[str] = []
    process = begin(f"import sys; sys.stdout.buffer.write({written})", said)
    assert await process.exit_description() == "It stopped with exit code 0."
    await process.stop()
    assert said == lines == list(process.tail)


async def test_a_line_that_comes_in_pieces_is_one_line() -> None:
    said: list[str] = []
    code = "import os, time\nfor piece in (b'caf\\xc3', b'\\xa9 n', b'oir\\n'): os.write(1, piece); time.sleep(0.05)"
    process = begin(code, said)
    await process.exit_description()
    assert said == ["café noir"]
    await process.stop()


async def test_only_the_last_lines_are_kept() -> None:
    said: list[str] = []
    process = begin("for line in range(100): print(line)", said)
    await process.exit_description()
    assert len(said) == 100
    assert list(process.tail) == [str(line) for line in range(100 - TAIL_LINES, 100)]
    await process.stop()


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("import sys; sys.exit(3)", "It stopped with exit code 3."),
        ("import os; os.kill(os.getpid(), 11)", "It was killed by SIGSEGV."),
        ("import os; os.kill(os.getpid(), 9)", "It was killed by SIGKILL (possibly by the system, out of memory)."),
    ],
)
async def test_how_it_ended_is_a_sentence(code: str, sentence: str) -> None:
    process = begin(code, [])
    assert await process.exit_description() == sentence
    await process.stop()


async def test_its_end_is_known_before_all_is_swept(until: Callable[..., Awaitable[None]]) -> None:
    # A process that looks like a resource tracker, so it is spared, and does not exit by itself.
    code = (
        "import os, subprocess, sys\n"
        "tracker = 'import time  # multiprocessing.resource_tracker\\ntime.sleep(600)'\n"
        "print(subprocess.Popen([sys.executable, '-c', tracker]).pid, flush=True)\n"
        "os._exit(3)"
    )
    said: list[str] = []
    process = begin(code, said)
    assert await process.exits_within(20)
    await until(lambda: said)
    tracker = int(said[0])
    assert alive(tracker)
    assert await process.exit_description() == "It stopped with exit code 3."
    assert not alive(tracker)
    await process.stop()


async def test_it_has_a_session_of_its_own() -> None:
    said: list[str] = []
    process = begin("import os; print(os.getsid(0), os.getpgid(0))", said)
    await process.exit_description()
    session, group = (int(word) for word in said[0].split())
    assert session == group
    assert session not in (os.getsid(0), os.getpid())
    await process.stop()


async def test_work_that_fails_because_the_command_died_is_told_so() -> None:
    async def connection_is_lost() -> None:
        os.kill(int(said[0]), signal.SIGKILL)
        raise ConnectionResetError

    said: list[str] = []
    process = begin("import os, time; print(os.getpid(), flush=True); time.sleep(600)", said)
    while not said:
        assert not await process.exits_within(0.01)
    with pytest.raises(ProcessEnded, match="It was killed by SIGKILL"):
        await process.run_until_exit(connection_is_lost())
    await process.stop()


async def test_work_that_fails_by_itself_says_so() -> None:
    async def fail() -> None:
        raise LookupError("no such adapter")

    process = begin("import time; time.sleep(600)", [])
    with pytest.raises(LookupError, match="no such adapter"):
        await process.run_until_exit(fail())
    await process.stop()


async def test_whoever_is_cancelled_while_it_stops_does_not_wait_for_the_grace(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    process = begin(FAMILY, [], str(note), "stubborn", grace=600)
    while not note.exists():
        assert not await process.exits_within(0.01)
    stopping = asyncio.create_task(process.stop())
    while not await process.exits_within(0.05):
        stopping.cancel()
    await asyncio.wait({stopping})
    assert stopping.cancelled()
    assert not any(alive(int(pid)) for pid in note.read_text().split())


async def test_when_the_reaper_is_killed_the_parent_looks_after_those_in_its_session(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    process = begin(FAMILY, [], str(note), "stubborn", grace=0.2)
    while not note.exists():
        assert not await process.exits_within(0.01)
    command, child, elsewhere = (int(pid) for pid in note.read_text().split())
    try:
        os.kill(os.getsid(command), signal.SIGKILL)
        assert await process.exit_description() == "The reaper of It was killed by SIGKILL."
        assert alive(command)
        await process.stop()
        assert not alive(command)
        assert not alive(child)
    finally:
        os.kill(elsewhere, signal.SIGKILL)  # it left the session and is no longer tracked
