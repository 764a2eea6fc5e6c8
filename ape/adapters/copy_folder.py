"""A temporary folder of this process for copies of adapters; those of dead processes are removed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def open_copy_folder(within: Path) -> Iterator[Path]:
    """Create a folder and remove it at the end of the block; if we are killed, the next process removes it."""
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
    """Remove the folders of dead processes, whose locks the system has released."""
    for folder in within.glob("run-*/"):
        path = _lock_of(folder)
        if not path.exists():
            continue  # its process is just starting
        try:
            with FileLock(path, timeout=0):
                shutil.rmtree(folder, ignore_errors=True)
                path.unlink(missing_ok=True)
        except Timeout:
            pass


def _lock_of(folder: Path) -> Path:
    return folder.with_suffix(".lock")
