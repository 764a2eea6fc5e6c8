"""The minder leaves nobody behind, however its charge or its parent ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# A parent with a child of its own, which ignores SIGTERM, and a grandchild in a session of its own.
FAMILY = """
import os, signal, subprocess, sys, time
sleeper = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
children = [subprocess.Popen([sys.executable, "-c", sleeper], start_new_session=own) for own in (False, True)]
open(sys.argv[1], "w").write(" ".join(str(pid) for pid in [os.getpid(), *(child.pid for child in children)]))
time.sleep(600)
"""
# Who starts the minder and may be killed.
PARENT = """
import subprocess, sys
minder = subprocess.Popen([sys.executable, "-m", "serve.minder", *sys.argv[1:]], stdin=subprocess.PIPE)
print(minder.pid, flush=True)
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

    def __init__(self, folder: Path) -> None:
        note = folder / "pids"
        command = ["0.5", sys.executable, "-c", FAMILY, str(note)]
        self.parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, *command], stdout=subprocess.PIPE, text=True
        )
        assert self.parent.stdout
        self.minder = int(self.parent.stdout.readline())
        wait_for(lambda: note.exists() and len(note.read_text().split()) == 3)
        self.family = [int(pid) for pid in note.read_text().split()]


@pytest.fixture
def household(tmp_path: Path) -> Iterator[Household]:
    house = Household(tmp_path)
    yield house
    for pid in (house.parent.pid, house.minder, *house.family):
        if alive(pid):
            os.kill(pid, signal.SIGKILL)
    house.parent.communicate()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_told_to_stop_it_ends_the_whole_family(household: Household, sent: signal.Signals) -> None:
    assert all(alive(pid) for pid in household.family)
    os.kill(household.minder, sent)
    wait_for(lambda: not any(alive(pid) for pid in (household.minder, *household.family)))


def test_when_its_parent_is_killed_nobody_is_left(household: Household) -> None:
    household.parent.kill()
    wait_for(lambda: not any(alive(pid) for pid in (household.minder, *household.family)))


def test_when_the_command_is_killed_its_children_go_too(household: Household) -> None:
    os.kill(household.family[0], signal.SIGKILL)
    wait_for(lambda: not any(alive(pid) for pid in (household.minder, *household.family)))


@pytest.mark.parametrize(
    ("code", "expected"), [("import sys; sys.exit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 137)]
)
def test_the_exit_code_is_the_commands(code: str, expected: int) -> None:
    words = [sys.executable, "-m", "serve.minder", "1", sys.executable, "-c", code]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as minder:
        assert minder.wait(20) == expected
