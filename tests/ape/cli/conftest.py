"""Fixtures that run `ape` in an empty folder."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ape.cli.main import main
from tests.scripted import ScriptedServer

APE = Path(sys.executable).parent / "ape"
Run = Callable[..., subprocess.CompletedProcess[str]]
MT = "Claire posed his bag and sat down."


@pytest.fixture
def run(tmp_path: Path, scripted: ScriptedServer) -> Run:
    """Run `ape` as a subprocess in an empty folder, without settings."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("APE_", "OPENAI_"))}
    home = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "c"),
        "XDG_CACHE_HOME": str(tmp_path / "k"),
        "XDG_DATA_HOME": str(tmp_path / "d"),
    }

    def run_ape(*words: str, stdin: str | bytes = "", **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(APE), *words],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=tmp_path,
            env=inherited | home | environment,
            timeout=300,
            check=False,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run_ape


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `ape` in this process, which imports its dependencies only once."""
    for name in [name for name in os.environ if name.startswith(("APE_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def run_ape(*words: object, stdin: str | bytes = "", **environment: str) -> subprocess.CompletedProcess[str]:
        content = stdin.encode() if isinstance(stdin, str) else stdin
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["ape", *map(str, words)])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
            for name, value in environment.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as caught:
                main()
        output = capsys.readouterr()
        return subprocess.CompletedProcess(
            [str(word) for word in words], int(str(caught.value.code or 0)), output.out, output.err
        )

    return run_ape
