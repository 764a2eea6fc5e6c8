"""Write log lines in a background thread, so that a blocked or closed stream delays nothing."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

MAX_QUEUED_LINES = 10_000
FLUSH_SECONDS = 2.0


def _lost_lines_message(count: int) -> str:
    return f"({count} lines were dropped: the stream was blocked)"


@contextmanager
def background_writer(
    stream: TextIO | None, *, lost: Callable[[int], str] = _lost_lines_message, most: int = MAX_QUEUED_LINES
) -> Iterator[Callable[[str], None]]:
    """Yield a function that queues a line for writing.

    A full queue drops lines; `lost` formats the line that reports how many.
    """
    writer = _Writer(stream, lost, most)
    thread = threading.Thread(target=writer.work, daemon=True)
    thread.start()
    try:
        yield writer.put
    finally:
        with suppress(queue.Full):
            writer.lines.put(None, timeout=FLUSH_SECONDS)
        thread.join(FLUSH_SECONDS)


class _Writer:
    def __init__(self, stream: TextIO | None, lost: Callable[[int], str], most: int) -> None:
        self.lines: queue.Queue[str | None] = queue.Queue(most)
        self._stream = stream
        self._lost = lost
        self._dropped = 0

    def put(self, line: str) -> None:
        try:
            if self._dropped:
                self.lines.put_nowait(self._lost(self._dropped))
                self._dropped = 0
            self.lines.put_nowait(line)
        except queue.Full:
            self._dropped += 1

    def work(self) -> None:
        while (line := self.lines.get()) is not None:
            # A closed or broken stream loses only this line.
            with suppress(OSError, ValueError):
                self._write(line)

    def _write(self, line: str) -> None:
        """Bypass Python's buffer: data left in it when a pipe breaks would make the process exit with an error."""
        if self._stream is None:  # closed at the start; its number may since be that of another file
            return
        rest = f"{line}\n".encode(errors="backslashreplace")
        while rest:
            rest = rest[os.write(self._stream.fileno(), rest) :]
