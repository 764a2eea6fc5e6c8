"""A fake vLLM that starts fast, has the HTTP API of vLLM, and fails on demand.

The package `vllm` in this folder takes the place of the real one: `Fake(tmp_path).python` is an interpreter that has
it first on its path. It is minded, called and killed like the real one, with an engine core as a process of its own.
"""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Life:
    """One start of the fake: its process ids, arguments and environment."""

    api: int
    engine: int
    arguments: tuple[str, ...]
    environment: dict[str, str]


class Fake:
    """A fake vLLM, its current faults, and its starts so far.

    Faults are read at each start and request:

    at a start: `die_after_start` (exit code 3 after some last words), `never_healthy` (it does not listen while set),
    `slow_start` (seconds until it listens), `flood` (bytes of log, written first), `say` (lines of log);
    at a request: `hang` (no answer to anything, /health too), `unhealthy` (/health is 503), `answer_delay` (seconds
    before an answer), `pause` (seconds between two pieces of a stream), `load_error` (message) with `load_status`,
    `draft` (the answer, instead of the MT), with the words that it is `unsure` of;
    at a SIGTERM: `ignore_sigterm`.
    """

    def __init__(self, folder: Path) -> None:
        self._faults = folder / "fake_vllm.json"
        self._lives = folder / "fake_vllm.json.lives"
        self.python = folder / "fake_python"
        self.set()
        words = {"PYTHONPATH": Path(__file__).parent, "FAKE_VLLM": self._faults}
        given = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in words.items())
        self.python.write_text(f'#!/bin/sh\n{given} exec {shlex.quote(sys.executable)} "$@"\n')
        self.python.chmod(0o755)

    def set(self, **faults: Any) -> None:
        """Replace the current faults."""
        written = self._faults.with_suffix(".new")
        written.write_text(json.dumps(faults))
        written.replace(self._faults)

    @property
    def lives(self) -> list[Life]:
        """All starts so far, oldest first."""
        if not self._lives.exists():
            return []
        rows = [json.loads(line) for line in self._lives.read_text().splitlines()]
        return [Life(row["api"], row["engine"], tuple(row["arguments"]), row["environment"]) for row in rows]

    @property
    def life(self) -> Life:
        """The latest start."""
        return self.lives[-1]


def fake_python(folder: Path) -> Path:
    """Return an interpreter with the fake vLLM first on its path."""
    return Fake(folder).python
