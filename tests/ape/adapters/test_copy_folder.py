"""Copies are removed with the process that made them, even if it was killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ape.adapters.copy_folder import open_copy_folder

HOLDER = """
import sys, pathlib
from ape.adapters.copy_folder import open_copy_folder
with open_copy_folder(pathlib.Path(sys.argv[1])) as own:
    (own / "file").touch()
    print(own, flush=True)
    sys.stdin.read()
"""


def test_a_shelf_is_gone_at_the_end(tmp_path: Path) -> None:
    with open_copy_folder(tmp_path) as own:
        (own / "file").touch()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.subprocess
def test_that_of_a_living_process_is_left_alone_and_that_of_a_killed_one_cleared(tmp_path: Path) -> None:
    words = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        other = Path(holder.stdout.readline().strip())
        with open_copy_folder(tmp_path):
            assert (other / "file").exists()
        holder.kill()
        holder.wait()
    assert (other / "file").exists()
    with open_copy_folder(tmp_path) as own:
        assert [path for path in tmp_path.iterdir() if path.is_dir()] == [own]
