"""A user at a terminal, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.scripted import ScriptedServer

APE = Path(sys.executable).parent / "ape"
Run = Callable[..., subprocess.CompletedProcess[str]]
MT = "Claire posed his bag and sat down."


@pytest.fixture
def run(tmp_path: Path, scripted: ScriptedServer) -> Run:
    """Type `ape …` in an empty folder of a user of whom nothing is known."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("APE_", "OPENAI_"))}
    home = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "c"),
        "XDG_CACHE_HOME": str(tmp_path / "k"),
        "XDG_DATA_HOME": str(tmp_path / "d"),
    }
    (tmp_path / "src.txt").write_text("Claire posa son sac et s’assit.\n", encoding="utf-8")
    (tmp_path / "mt.txt").write_text(MT + "\n", encoding="utf-8")

    def type_in(*words: str, stdin: str | bytes = "", **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(APE), *words],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=tmp_path,
            env=kept | home | environment,
            timeout=120,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    return type_in
