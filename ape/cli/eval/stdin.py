"""Standard input in place of one file: what was typed as "-" is kept as a file that is called stdin."""

from __future__ import annotations

import sys
from pathlib import Path

from ape.errors import InputError


class Stdin:
    """Of all files of a command, one may be "-"."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._taken = folder, False

    def file(self, path: Path, *, suffix: str = "") -> Path:
        """The path itself, or where standard input is kept."""
        if str(path) != "-":
            return path
        if self._taken:
            raise InputError("Only one file can be -: standard input is read once.", field="path")
        self._taken = True
        kept = self._folder / f"stdin{suffix}"
        kept.write_bytes(sys.stdin.buffer.read())
        return kept
