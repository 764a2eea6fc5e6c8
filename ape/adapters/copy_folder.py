"""A folder for copies of adapters, of this process alone; those of processes that died are cleared away."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def open_copy_folder(within: Path) -> Iterator[Path]:
    """A folder of our own, gone at the end of the block, or else when the next process comes by."""
    within.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(within)
    own = Path(tempfile.mkdtemp(prefix="run-", dir=within))
    lock = FileLock(_lock_of(own))
    with lock:
        try:
            yield own
        finally:
            shutil.rmtree(own, ignore_errors=True)
            _lock_of(own).unlink(missing_ok=True)


def _remove_abandoned(within: Path) -> None:
    """The system frees the lock of whoever dies, by whatever signal."""
    for folder in within.glob("run-*/"):
        path = _lock_of(folder)
        if not path.exists():
            continue  # somebody is just beginning
        try:
            with FileLock(path, timeout=0):
                shutil.rmtree(folder, ignore_errors=True)
                path.unlink(missing_ok=True)
        except Timeout:
            pass


def _lock_of(folder: Path) -> Path:
    return folder.with_suffix(".lock")
