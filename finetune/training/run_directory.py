"""The directory of a training: what was asked for, its checkpoints, and in the end the adapter."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ape.adapters import CARD_FILE
from ape.errors import ApeError, InputError
from ape.files.atomic import sync_to_disk, write_text_atomic
from ape.files.hashing import hash_file

RUN_FILE = "run.json"
LOCK_FILE = ".lock"
# Written into a checkpoint when all of it is on disk: whether the training had ended there, and a line for each file
# with its hash. One without it is of a process that died, and nobody goes on from there; nor from one that has changed.
COMPLETE_FILE = "whole"
ENDED_LINE = "end"
# Of transformers: where a checkpoint says which one was the best so far.
_STATE = "trainer_state.json"
# What a system says where it can't write; a lost connection to another process is an OSError too, and is none of these.
_WRITE_ERRORS = {errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EPERM, errno.EROFS}
# How torch and safetensors say it, who have no OSError for it.
_WRITE_ERROR_PHRASES = (
    "No space left",
    "File too large",
    "failed writing file",
    "file write failed",
    "unexpected pos",
)


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """A training under way."""

    directory: Path

    @property
    def checkpoints(self) -> Path:
        """Where they lie, each by its step."""
        return self.directory / "checkpoints"

    def last_checkpoint(self, tell: Callable[[Path, str], None] = lambda _place, _file: None) -> Path | None:
        """The newest one that is whole. `tell` hears of each newer one that was, and of the file that is damaged."""
        marked = [place.parent for place in self.checkpoints.glob(f"checkpoint-*/{COMPLETE_FILE}")]
        for checkpoint in sorted(marked, key=checkpoint_step, reverse=True):
            damaged = _find_damaged_file(checkpoint)
            if damaged is None:
                return checkpoint
            tell(checkpoint, damaged)
        return None

    def ended(self, checkpoint: Path) -> bool:
        """Whether the training had come to its end there, so that only the adapter is still to be saved."""
        return (checkpoint / COMPLETE_FILE).read_text().partition("\n")[0] == ENDED_LINE

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else trains here meanwhile; of the processes of one training, the first holds it for all."""
        if os.environ.get("RANK", "0") != "0":
            yield
            return
        try:
            with FileLock(self.directory / LOCK_FILE, timeout=0):
                yield
                if (self.directory / CARD_FILE).exists():
                    (self.directory / LOCK_FILE).unlink(missing_ok=True)  # a finished adapter needs none
        except Timeout as error:
            raise InputError(f"Another process is training in {self.directory} at this moment.") from error

    def finish(self) -> None:
        """The adapter is there: what was needed to go on is not needed any more."""
        shutil.rmtree(self.checkpoints, ignore_errors=True)


def open_training_run(directory: Path, asked: Mapping[str, Any]) -> TrainingRun:
    """Begin in a new directory, or go on in that of the same training; any other is left alone."""
    if (directory / CARD_FILE).exists():
        raise InputError(f"{directory} holds a finished adapter. Choose another --out, or remove it first.")
    run = TrainingRun(directory)
    said = json.dumps(asked, indent=1, sort_keys=True) + "\n"
    try:
        if not (directory / RUN_FILE).exists():
            _create_run_directory(directory, said)
        before = (directory / RUN_FILE).read_text(encoding="utf-8")
        if before != said and run.last_checkpoint() is None:
            _create_run_directory(directory, said)  # nothing was learned the other way
            before = said
    except OSError as error:
        raise InputError(f"{directory} can't be used: {error.strerror}.") from error
    if before != said:
        changed = _changed_settings(json.loads(before), json.loads(said))
        raise InputError(
            f"{directory} holds an unfinished training with another {changed}. Give it the same again to go on, or "
            "choose another --out."
        )
    return run


def checkpoint_step(checkpoint: Path) -> int:
    """The step that it was saved after."""
    return int(checkpoint.name.rpartition("-")[2])


def mark_complete(checkpoint: Path, *, end: bool) -> None:
    """All of it is on disk, where a power cut leaves it too."""
    lines = [ENDED_LINE if end else ""]
    for place in sorted(
        place for place in checkpoint.rglob("*") if place.is_file() and place.name != COMPLETE_FILE
    ):
        lines.append(f"{hash_file(place)} {place.relative_to(checkpoint)}")
        sync_to_disk(place)
    write_text_atomic(checkpoint / COMPLETE_FILE, "\n".join(lines), sync=True)
    sync_to_disk(checkpoint.parent)


def _find_damaged_file(checkpoint: Path) -> str | None:
    """The file that is not as it was marked, here or in the best one so far, whose weights may be the end's."""
    if (found := _changed_file(checkpoint)) is not None:
        return found
    if not (checkpoint / _STATE).exists():
        return None
    best = json.loads((checkpoint / _STATE).read_bytes()).get("best_global_step")
    if not best or best == checkpoint_step(checkpoint):
        return None
    place = checkpoint.with_name(f"checkpoint-{best}")
    found = _changed_file(place)
    return None if found is None else f"{place.name}/{found}"


def _changed_file(checkpoint: Path) -> str | None:
    """The first that is gone or has another hash than in the mark, or the mark itself."""
    try:
        _, *lines = (checkpoint / COMPLETE_FILE).read_text(encoding="utf-8").split("\n")
    except OSError:
        return COMPLETE_FILE
    for line in lines:
        digest, _, name = line.partition(" ")
        try:
            if hash_file(checkpoint / name) != digest:
                return name
        except OSError:
            return name
    return None


@contextmanager
def explain_write_errors(what: str, run: TrainingRun) -> Iterator[None]:
    """A disk that is full is said in a sentence, whichever library was writing."""
    try:
        with _ignore_disk_errors_in_threads():
            yield
    except ApeError:
        raise
    except Exception as error:
        if (full := _disk_full(error)) is None:
            raise
        raise InputError(f"{what} could not be written: {full}. {_resume_advice(run)}") from error


@contextmanager
def _ignore_disk_errors_in_threads() -> Iterator[None]:
    """TensorBoard writes in a thread, and raises there what the next to write will hear of: that is once too often."""
    tell = threading.excepthook

    def heard(failed: threading.ExceptHookArgs) -> None:
        if _disk_full(failed.exc_value) is None:
            tell(failed)

    threading.excepthook = heard
    try:
        yield
    finally:
        threading.excepthook = tell


def _resume_advice(run: TrainingRun) -> str:
    last = run.last_checkpoint()
    if last is None:
        return "There is no checkpoint yet: make room, and the same command begins anew."
    return f"The checkpoint of step {checkpoint_step(last)} is whole: make room, and the same command goes on from there."


def _disk_full(error: BaseException | None) -> str | None:
    """What the system said, where this or what led to it is a failure to write."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _WRITE_ERRORS:
            return error.strerror
        if any(sign in str(error) for sign in _WRITE_ERROR_PHRASES):
            return "no space left"
        error = error.__cause__ or error.__context__
    return None


def _create_run_directory(directory: Path, said: str) -> None:
    """Make it the directory of a training, at one stroke, since all processes of torchrun do so at once."""
    directory.mkdir(parents=True, exist_ok=True)
    others = [place for place in directory.iterdir() if not place.name.startswith((RUN_FILE, LOCK_FILE))]
    if others and not (directory / RUN_FILE).exists():
        raise InputError(f"{directory} exists and is no training. Choose another --out.")
    write_text_atomic(directory / RUN_FILE, said)


def _changed_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    flat_before, flat_now = (dict(_flatten(one)) for one in (before, now))
    names = [name for name in sorted(flat_before | flat_now) if flat_before.get(name) != flat_now.get(name)]
    return ", ".join(f"{name} ({flat_before.get(name)!r} then, {flat_now.get(name)!r} now)" for name in names)


def _flatten(tree: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in tree.items():
        if isinstance(value, Mapping):
            found += _flatten(value, f"{above}{name}.")
        else:
            found.append((f"{above}{name}", value))
    return found
