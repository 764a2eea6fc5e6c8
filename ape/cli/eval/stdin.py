"""Standard input in place of a file named "-"."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from pathlib import Path

from ape.errors import InputError


class StdinFile:
    """Copies standard input to a file, at most once."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._is_read = folder, False

    def file(self, path: Path) -> Path:
        """The path, or the copy of standard input for "-"."""
        return self._save(self._read(), "stdin") if str(path) == "-" else path

    def table(self, path: Path) -> Path:
        """Like `file`, with the suffix of JSON lines or TSV by content."""
        if str(path) != "-":
            return path
        text = self._read()
        lines = text.removeprefix(BOM_UTF8).lstrip().startswith(b"{")
        return self._save(text, "stdin.jsonl" if lines else "stdin.tsv")

    def _read(self) -> bytes:
        if self._is_read:
            raise InputError("Only one file can be -, because standard input is read once.", field="path")
        self._is_read = True
        return sys.stdin.buffer.read()

    def _save(self, text: bytes, name: str) -> Path:
        path = self._folder / name
        path.write_bytes(text)
        return path
