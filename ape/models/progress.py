"""Telling the caller how a pull goes, since the library itself prints nothing."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_EVERY_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class DownloadProgress:
    """What is being done, and how many bytes of it are done; `total` is None where nobody knows it."""

    what: str
    done: int = 0
    total: int | None = None


DownloadListener = Callable[[DownloadProgress], None]
"""Whom we tell: called often, while something downloads from a thread of ours, and it must not raise."""


def ignore_progress(step: DownloadProgress) -> None:
    """The progress of a caller who does not want to know."""


@contextmanager
def watch_folder(folder: Path, what: str, *, total: int | None, progress: DownloadListener) -> Iterator[None]:
    """Tell how a folder grows while the block runs, for downloaders that tell nothing themselves."""
    progress(DownloadProgress(what, 0, total))
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_EVERY_SECONDS):
            progress(DownloadProgress(what, _bytes_in(folder), total))

    watcher = threading.Thread(target=watch, name="ape-models-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _bytes_in(folder: Path) -> int:
    """The sum of what is there; the downloader renames and removes files and folders while they are counted."""
    size = 0
    for where, _, names in os.walk(folder):  # passes by what is gone, as rglob does not
        for name in names:
            with suppress(FileNotFoundError):
                size += Path(where, name).stat().st_size
    return size
