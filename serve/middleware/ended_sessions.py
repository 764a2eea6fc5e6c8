"""The sessions that ended by a log-out, kept in a file: their cookies stay worthless after a restart."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path


class EndedSessions:
    """The names of ended sessions, each until its cookie would expire. A line of the file is one name and that time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __contains__(self, name: str) -> bool:
        return name in self._ended

    def add(self, name: str, expires: int) -> None:
        """Add a session; a file that can't be written is no error, the session has ended until a restart."""
        now = time.time()
        for old in [old for old, until in self._ended.items() if until < now]:
            del self._ended[old]
        self._ended[name] = expires
        with suppress(OSError):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(f"{name} {expires}\n")

    @cached_property
    def _ended(self) -> dict[str, int]:
        try:
            lines = self._path.read_text(encoding="ascii").splitlines()
        except (OSError, ValueError):
            return {}
        pairs = [line.split(" ") for line in lines]
        known = {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}
        return {name: until for name, until in known.items() if until >= time.time()}
