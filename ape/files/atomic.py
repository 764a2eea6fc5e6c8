"""Atomic writes: a file or folder appears complete under its name, or not at all.

Errors of the disk stay `OSError`; `explain_write_errors` turns them into a sentence that names the path.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from ape.errors import InputError

_DRAFT = ".ape-"


@contextmanager
def atomic_path(path: Path, *, sync: bool = False) -> Iterator[Path]:
    """Yield an unused path in the same folder; the file or folder created there takes the place of `path`.

    If the block fails, `path` stays as it was and nothing is left behind. A file keeps the permissions of the file that
    it replaces; a new one gets those of the umask. `sync` flushes the content to the disk before the rename and the
    name after it. A device or a pipe is never replaced.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    draft = draft_path(path)
    try:
        yield draft
        if draft.is_file() and path.is_file():
            draft.chmod(path.stat().st_mode & 0o777)
        if sync:
            sync_to_disk(draft)
        _move(draft, path)
        if sync:
            sync_to_disk(path.parent)
    finally:
        _remove(draft)


def draft_path(path: Path) -> Path:
    """An unused path in the same folder that names this machine and process."""
    return path.with_name(f"{_DRAFT}{_machine()}-{os.getpid()}-{secrets.token_hex(8)}{path.suffix}")


def remove_stale_drafts(folder: Path) -> None:
    """Remove drafts that processes of this machine left behind when they were killed."""
    for path in folder.glob(f"{_DRAFT}{_machine()}-*"):
        owner = path.name.removeprefix(_DRAFT).split("-")[1]
        if owner.isdecimal() and not _is_running(int(owner)):
            with suppress(OSError):
                _remove(path)


@cache
def _machine() -> str:
    """A name of this machine and its process numbers: a shared folder may hold the drafts of others."""
    space = ""
    with suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")  # noqa: PTH115, no path
    return hashlib.sha256(f"{socket.gethostname()}/{space}".encode()).hexdigest()[:8]


def _is_running(pid: int) -> bool:
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def write_text_atomic(path: Path, text: str | Iterable[str], *, errors: str = "replace", sync: bool = False) -> None:
    """Write a text, or its parts one after another, as UTF-8 with line ends as they are.

    A reply of a model may hold a lone surrogate, which UTF-8 can't encode: by default it becomes a question mark.
    """
    with atomic_path(path, sync=sync) as draft, draft.open("x", encoding="utf-8", errors=errors, newline="") as file:
        file.writelines([text] if isinstance(text, str) else text)


def sync_to_disk(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def refuse_existing_path(path: Path) -> None:
    """Raise InputError if something is there: it may be in use, so it is never overwritten."""
    if path.exists() or path.is_symlink():
        raise InputError(f"{path} is there already. Choose another place, or remove it first.", field="out")


@contextmanager
def explain_write_errors(path: Path, *, remedy: str = "", field: str | None = None) -> Iterator[None]:
    """Raise an OSError of the block as an InputError: which path can't be written, why, and the remedy."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path} can't be written: {reason}. {remedy}".rstrip(), field=field) from error


@contextmanager
def new_output(path: Path) -> Iterator[Path]:
    """Like `atomic_path`, for an output that must not exist yet; whatever prevents it is an InputError."""
    refuse_existing_path(path)
    with explain_write_errors(path, remedy="Make room, or choose another place."):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as draft:
            yield draft
            refuse_existing_path(path)


def _move(draft: Path, path: Path) -> None:
    """Rename; a folder can't be renamed over another, so the other one is moved away first."""
    if draft.is_dir() and path.is_dir():
        old = draft.with_name(f"{draft.name}-old")
        path.rename(old)
        draft.rename(path)
        shutil.rmtree(old)
    else:
        draft.replace(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
