"""The directory of a training: what was asked for, its checkpoints, and in the end the adapter."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ape.adapters import CARD
from ape.errors import InputError

ASKED = "run.json"
# Written into a checkpoint when all of it is on disk. One without it is of a process that died, and is not gone on from.
WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Run:
    """A training under way."""

    directory: Path

    @property
    def checkpoints(self) -> Path:
        """Where they lie, each by its step."""
        return self.directory / "checkpoints"

    def last_checkpoint(self) -> Path | None:
        """The newest one that is whole."""
        whole = [place.parent for place in self.checkpoints.glob(f"checkpoint-*/{WHOLE}")]
        return max(whole, key=lambda place: int(place.name.rpartition("-")[2]), default=None)

    def finish(self) -> None:
        """The adapter is there: what was needed to go on is not needed any more."""
        shutil.rmtree(self.checkpoints, ignore_errors=True)


def open_run(directory: Path, asked: Mapping[str, Any]) -> Run:
    """Begin in a new directory, or go on in that of the same training; any other is left alone."""
    if (directory / CARD).exists():
        raise InputError(f"{directory} holds a finished adapter. Choose another --out, or remove it first.")
    run = Run(directory)
    said = json.dumps(asked, indent=1, sort_keys=True) + "\n"
    try:
        if not (directory / ASKED).exists():
            if directory.exists() and any(directory.iterdir()):
                raise InputError(f"{directory} exists and is no training. Choose another --out.")
            directory.mkdir(parents=True, exist_ok=True)
            (directory / ASKED).write_text(said, encoding="utf-8")
        before = (directory / ASKED).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{directory} can't be used: {error.strerror}.") from error
    if before != said:
        changed = _changed(json.loads(before), json.loads(said))
        raise InputError(
            f"{directory} holds an unfinished training with another {changed}. Give it the same again to go on, or "
            "choose another --out."
        )
    return run


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    flat_before, flat_now = (dict(_flat(one)) for one in (before, now))
    names = [name for name in sorted(flat_before | flat_now) if flat_before.get(name) != flat_now.get(name)]
    return ", ".join(f"{name} ({flat_before.get(name)!r} then, {flat_now.get(name)!r} now)" for name in names)


def _flat(tree: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in tree.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{above}{name}.")
        else:
            found.append((f"{above}{name}", value))
    return found
