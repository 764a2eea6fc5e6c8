"""Directory of a training run: its settings, its checkpoints and finally the adapter."""

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
# Written into a checkpoint once all of it is on disk: whether training had ended there, then a line for each file with
# its hash. A checkpoint without this file, or with changed files, is never resumed from.
COMPLETE_FILE = "whole"
ENDED_LINE = "end"
# Written by transformers: the best step so far, among others.
_STATE = "trainer_state.json"
# Failures to write; other OSErrors, such as a lost connection to another process, are raised as they are.
_WRITE_ERRORS = {errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EPERM, errno.EROFS}
# How torch and safetensors report a failed write, which they do without an OSError.
_WRITE_ERROR_PHRASES = ("No space left", "File too large", "failed writing file", "file write failed", "unexpected pos")


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """A training run that is not finished."""

    directory: Path

    @property
    def checkpoints(self) -> Path:
        """Directory of the checkpoints, each named by its step."""
        return self.directory / "checkpoints"

    def last_checkpoint(self, on_damaged: Callable[[Path, str], None] = lambda *_: None) -> Path | None:
        """The newest intact checkpoint. `on_damaged` is called for each newer one, with its damaged file."""
        complete = [path.parent for path in self.checkpoints.glob(f"checkpoint-*/{COMPLETE_FILE}")]
        for checkpoint in sorted(complete, key=checkpoint_step, reverse=True):
            damaged = _find_damaged_file(checkpoint)
            if damaged is None:
                return checkpoint
            on_damaged(checkpoint, damaged)
        return None

    def ended_at(self, checkpoint: Path) -> bool:
        """Whether training ended there, so that only saving the adapter is left."""
        return (checkpoint / COMPLETE_FILE).read_text().partition("\n")[0] == ENDED_LINE

    @contextmanager
    def locked_directory(self) -> Iterator[None]:
        """Lock the directory against other runs; under torchrun the first process locks it for all."""
        if os.environ.get("RANK", "0") != "0":
            yield
            return
        try:
            with FileLock(self.directory / LOCK_FILE, timeout=0):
                yield
                if (self.directory / CARD_FILE).exists():
                    (self.directory / LOCK_FILE).unlink(missing_ok=True)  # a finished adapter needs no lock
        except Timeout as error:
            raise InputError(f"Another process is training in {self.directory}. Wait for it to end.") from error

    def finish(self) -> None:
        """Remove the checkpoints once the adapter is saved."""
        shutil.rmtree(self.checkpoints, ignore_errors=True)


def open_training_run(directory: Path, settings: Mapping[str, Any]) -> TrainingRun:
    """Create the directory, or resume a run with the same settings; refuse any other directory."""
    if (directory / CARD_FILE).exists():
        raise InputError(f"{directory} holds a finished adapter. Choose another output directory, or remove it first.")
    run = TrainingRun(directory)
    now = json.dumps(settings, indent=1, sort_keys=True) + "\n"
    try:
        if not (directory / RUN_FILE).exists():
            _create_run_directory(directory, now)
        before = (directory / RUN_FILE).read_text(encoding="utf-8")
        if before != now and run.last_checkpoint() is None:
            _create_run_directory(directory, now)  # no checkpoint would be lost
            before = now
    except OSError as error:
        raise InputError(f"{directory} can't be used: {error.strerror}.") from error
    if before != now:
        changed = _changed_settings(json.loads(before), json.loads(now))
        raise InputError(
            f"{directory} holds an unfinished training run with another {changed}. Use the same settings to resume it, "
            "or choose another output directory."
        )
    return run


def checkpoint_step(checkpoint: Path) -> int:
    """The step of a checkpoint, from its name."""
    return int(checkpoint.name.rpartition("-")[2])


def mark_complete(checkpoint: Path, *, end: bool) -> None:
    """Sync all files of a checkpoint to disk, then write their hashes into it."""
    lines = [ENDED_LINE if end else ""]
    files = (path for path in checkpoint.rglob("*") if path.is_file() and path.name != COMPLETE_FILE)
    for path in sorted(files):
        lines.append(f"{hash_file(path)} {path.relative_to(checkpoint)}")
        sync_to_disk(path)
    write_text_atomic(checkpoint / COMPLETE_FILE, "\n".join(lines), sync=True)
    sync_to_disk(checkpoint.parent)


def _find_damaged_file(checkpoint: Path) -> str | None:
    """The first changed file of this checkpoint or of the best one, whose weights may become the adapter."""
    if (found := _changed_file(checkpoint)) is not None:
        return found
    if not (checkpoint / _STATE).exists():
        return None
    best = json.loads((checkpoint / _STATE).read_bytes()).get("best_global_step")
    if not best or best == checkpoint_step(checkpoint):
        return None
    best_checkpoint = checkpoint.with_name(f"checkpoint-{best}")
    found = _changed_file(best_checkpoint)
    return None if found is None else f"{best_checkpoint.name}/{found}"


def _changed_file(checkpoint: Path) -> str | None:
    """The first file that is missing or whose hash differs from the recorded one."""
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
    """Turn a failed write of any library into an InputError that says how to resume."""
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
    """Silence disk errors of TensorBoard's writer thread; the next write of the main thread reports them."""
    original = threading.excepthook

    def report_other_errors(failed: threading.ExceptHookArgs) -> None:
        if _disk_full(failed.exc_value) is None:
            original(failed)

    threading.excepthook = report_other_errors
    try:
        yield
    finally:
        threading.excepthook = original


def _resume_advice(run: TrainingRun) -> str:
    last = run.last_checkpoint()
    if last is None:
        return "There is no checkpoint yet. Free some space and start again."
    return f"Free some space and run it again: it resumes from the checkpoint of step {checkpoint_step(last)}."


def _disk_full(error: BaseException | None) -> str | None:
    """The system's message if this error or a cause of it is a failure to write."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _WRITE_ERRORS:
            return error.strerror
        if any(phrase in str(error) for phrase in _WRITE_ERROR_PHRASES):
            return "no space left"
        error = error.__cause__ or error.__context__
    return None


def _create_run_directory(directory: Path, settings: str) -> None:
    """Write the settings atomically, since all processes of torchrun do this at the same time."""
    directory.mkdir(parents=True, exist_ok=True)
    others = [path for path in directory.iterdir() if not path.name.startswith((RUN_FILE, LOCK_FILE))]
    if others and not (directory / RUN_FILE).exists():
        raise InputError(f"{directory} exists and is not a training run. Choose another output directory.")
    write_text_atomic(directory / RUN_FILE, settings)


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
