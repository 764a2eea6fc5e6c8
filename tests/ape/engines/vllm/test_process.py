"""The minder leaves nobody behind, however its charge, its parent or it itself ends; the log it passes on is clean."""

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

from ape.engines.vllm import process as minder
from ape.engines.vllm.process import MAX_LINE_CHARACTERS, TAIL_LINES, ProcessEnded, SupervisedProcess

MINDER = [sys.executable, "-I", "-S", minder.__file__]
# A parent with a child of its own, which ignores SIGTERM, and another one in a session of its own.
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
# Who starts the minder and may be killed; a child of its own may hold the line open.
PARENT = """
import os, subprocess, sys
minder = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE)
held = [minder.stdin.fileno()] if sys.argv[1] == "leaky" else []
sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], pass_fds=held)
print(minder.pid, sleeper.pid, flush=True)
minder.wait()
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not true in time"
        time.sleep(0.02)


class Household:
    """A parent, its minder, and the family that is minded."""

    def __init__(
        self, folder: Path, *, grace: str = "0.5", leaky: bool = False, stubborn: bool = False
    ) -> None:
        note = folder / "pids"
        command = [*MINDER, grace, sys.executable, "-c", FAMILY, str(note), *["stubborn"] * stubborn]
        self.parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, "leaky" if leaky else "tight", *command],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.parent.stdout
        self.minder, self.sleeper = (int(pid) for pid in self.parent.stdout.readline().split())
        wait_for(note.exists)
        self.family = [int(pid) for pid in note.read_text().split()]

    def is_gone(self) -> bool:
        return not any(alive(pid) for pid in (self.minder, *self.family))

    def clear(self) -> None:
        for pid in (self.parent.pid, self.sleeper, self.minder, *self.family):
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        self.parent.communicate()


Move = Callable[..., Household]


@pytest.fixture
def move_in(tmp_path: Path) -> Iterator[Move]:
    houses: list[Household] = []

    def move(**ways: object) -> Household:
        houses.append(Household(tmp_path, **ways))  # type: ignore[arg-type]
        return houses[-1]

    yield move
    for house in houses:
        house.clear()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_told_to_stop_it_ends_the_whole_family(move_in: Move, sent: signal.Signals) -> None:
    house = move_in()
    assert all(alive(pid) for pid in house.family)
    os.kill(house.minder, sent)
    wait_for(house.is_gone)


def test_when_its_parent_is_killed_nobody_is_left(move_in: Move) -> None:
    house = move_in()
    house.parent.kill()
    wait_for(house.is_gone)


def test_when_its_parent_is_killed_and_somebody_holds_the_line_nobody_is_left_either(move_in: Move) -> None:
    house = move_in(leaky=True)
    house.parent.kill()
    wait_for(house.is_gone)
    assert alive(house.sleeper)


def test_when_the_command_is_killed_its_children_go_too(move_in: Move) -> None:
    house = move_in()
    os.kill(house.family[0], signal.SIGKILL)
    wait_for(house.is_gone)


def test_when_the_minder_is_killed_the_command_is_told_to_stop(move_in: Move) -> None:
    house = move_in()
    os.kill(house.minder, signal.SIGKILL)
    wait_for(lambda: not alive(house.family[0]))


def test_a_command_that_does_not_heed_is_killed_once_its_grace_is_over(move_in: Move) -> None:
    house = move_in(stubborn=True)
    asked = time.monotonic()
    os.kill(house.minder, signal.SIGTERM)
    wait_for(house.is_gone)
    assert time.monotonic() - asked >= 0.5


@pytest.mark.parametrize("asked_before", [False, True])
def test_told_not_to_wait_it_kills_at_once(move_in: Move, asked_before: bool) -> None:
    house = move_in(stubborn=True, grace="600")
    if asked_before:
        os.kill(house.minder, signal.SIGTERM)
    os.kill(house.minder, signal.SIGQUIT)
    wait_for(house.is_gone)


@pytest.mark.parametrize(
    ("code", "expected"), [("import sys; sys.exit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 137)]
)
def test_the_exit_code_is_the_commands(code: str, expected: int) -> None:
    with subprocess.Popen([*MINDER, "1", sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        assert process.wait(20) == expected


def test_a_command_that_is_none_is_a_sentence() -> None:
    done = subprocess.run(
        [*MINDER, "1", "/no/such"], input="", capture_output=True, text=True, timeout=20, check=False
    )
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
    command = [*MINDER, "1", sys.executable, "-c", code]
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
    command = [*MINDER, "1", sys.executable, "-c", code]
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


@pytest.mark.parametrize(("written", "shown"), DIRTY_AND_CLEAN)
async def test_whatever_it_writes_comes_as_clean_lines(written: str, shown: list[str]) -> None:
    said: list[str] = []
    minded = begin(f"import sys; sys.stdout.buffer.write({written})", said)
    assert await minded.exit_description() == "It stopped with exit code 0."
    await minded.stop()
    assert said == shown == list(minded.tail)


async def test_a_line_that_comes_in_pieces_is_one_line() -> None:
    said: list[str] = []
    code = "import os, time\nfor piece in (b'caf\\xc3', b'\\xa9 n', b'oir\\n'): os.write(1, piece); time.sleep(0.05)"
    minded = begin(code, said)
    await minded.exit_description()
    assert said == ["café noir"]
    await minded.stop()


async def test_only_the_last_lines_are_kept() -> None:
    said: list[str] = []
    minded = begin("for line in range(100): print(line)", said)
    await minded.exit_description()
    assert len(said) == 100
    assert list(minded.tail) == [str(line) for line in range(100 - TAIL_LINES, 100)]
    await minded.stop()


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("import sys; sys.exit(3)", "It stopped with exit code 3."),
        ("import os; os.kill(os.getpid(), 11)", "It was killed by SIGSEGV."),
        (
            "import os; os.kill(os.getpid(), 9)",
            "It was killed by SIGKILL (by the system, for want of memory?).",
        ),
    ],
)
async def test_how_it_ended_is_a_sentence(code: str, sentence: str) -> None:
    minded = begin(code, [])
    assert await minded.exit_description() == sentence
    await minded.stop()


async def test_its_end_is_known_before_all_is_swept(until: Callable[..., Awaitable[None]]) -> None:
    # Something that looks like a resource tracker, is spared therefore, and does not end by itself.
    code = (
        "import os, subprocess, sys\n"
        "tracker = 'import time  # multiprocessing.resource_tracker\\ntime.sleep(600)'\n"
        "print(subprocess.Popen([sys.executable, '-c', tracker]).pid, flush=True)\n"
        "os._exit(3)"
    )
    said: list[str] = []
    minded = begin(code, said)
    assert await minded.exits_within(20)
    await until(lambda: said)
    tracker = int(said[0])
    assert alive(tracker)
    assert await minded.exit_description() == "It stopped with exit code 3."
    assert not alive(tracker)
    await minded.stop()


async def test_it_has_a_session_of_its_own() -> None:
    said: list[str] = []
    minded = begin("import os; print(os.getsid(0), os.getpgid(0))", said)
    await minded.exit_description()
    session, group = (int(word) for word in said[0].split())
    assert session == group
    assert session not in (os.getsid(0), os.getpid())
    await minded.stop()


async def test_work_that_fails_because_the_command_died_is_told_so() -> None:
    async def connection_is_lost() -> None:
        os.kill(int(said[0]), signal.SIGKILL)
        raise ConnectionResetError

    said: list[str] = []
    minded = begin("import os, time; print(os.getpid(), flush=True); time.sleep(600)", said)
    while not said:
        assert not await minded.exits_within(0.01)
    with pytest.raises(ProcessEnded, match="It was killed by SIGKILL"):
        await minded.run_until_exit(connection_is_lost())
    await minded.stop()


async def test_work_that_fails_by_itself_says_so() -> None:
    async def fail() -> None:
        raise LookupError("no such adapter")

    minded = begin("import time; time.sleep(600)", [])
    with pytest.raises(LookupError, match="no such adapter"):
        await minded.run_until_exit(fail())
    await minded.stop()


async def test_whoever_is_cancelled_while_it_stops_does_not_wait_for_the_grace(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    minded = begin(FAMILY, [], str(note), "stubborn", grace=600)
    while not note.exists():
        assert not await minded.exits_within(0.01)
    stopping = asyncio.create_task(minded.stop())
    while not await minded.exits_within(0.05):
        stopping.cancel()
    await asyncio.wait({stopping})
    assert stopping.cancelled()
    assert not any(alive(int(pid)) for pid in note.read_text().split())


async def test_when_the_minder_is_killed_the_parent_looks_after_those_in_its_session(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    minded = begin(FAMILY, [], str(note), "stubborn", grace=0.2)
    while not note.exists():
        assert not await minded.exits_within(0.01)
    command, child, elsewhere = (int(pid) for pid in note.read_text().split())
    try:
        os.kill(os.getsid(command), signal.SIGKILL)
        assert await minded.exit_description() == "The minder of It was killed by SIGKILL."
        assert alive(command)
        await minded.stop()
        assert not alive(command)
        assert not alive(child)
    finally:
        os.kill(elsewhere, signal.SIGKILL)  # it left the session, and nobody knows it any more
