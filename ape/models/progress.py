"""Progress of downloads, reported to a listener."""

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
    """A step of a download and its bytes so far; `total` is None if unknown. A notice is a sentence, not a step."""

    what: str
    done: int = 0
    total: int | None = None
    is_notice: bool = False


DownloadListener = Callable[[DownloadProgress], None]
"""Called often, during downloads from another thread; it must not raise."""


def ignore_progress(step: DownloadProgress) -> None:
    """Ignore the progress."""


@contextmanager
def watch_folder(folder: Path, what: str, *, total: int | None, progress: DownloadListener) -> Iterator[None]:
    """Report the growth of a folder during the block, for downloaders that report no progress."""
    progress(DownloadProgress(what, 0, total))
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_EVERY_SECONDS):
            progress(DownloadProgress(what, bytes_in(folder), total))

    watcher = threading.Thread(target=watch, name="ape-models-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def bytes_in(folder: Path) -> int:
    """The size of all files, while the downloader renames and removes some of them."""
    size = 0
    for where, _, names in os.walk(folder):  # unlike rglob, it ignores folders that are gone
        for name in names:
            with suppress(FileNotFoundError):
                size += Path(where, name).stat().st_size
    return size
