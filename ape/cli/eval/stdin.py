"""Standard input in place of one file: what was typed as "-" is kept as a file that is called stdin."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from pathlib import Path

from ape.errors import InputError


class StdinFile:
    """Of all files of a command, one may be "-"."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._taken = folder, False

    def file(self, path: Path) -> Path:
        """The path itself, or where standard input is kept."""
        return self._kept(self._read(), "stdin") if str(path) == "-" else path

    def table(self, path: Path) -> Path:
        """Likewise, with the ending that tells JSON lines, which begin with a brace, from TSV."""
        if str(path) != "-":
            return path
        text = self._read()
        lines = text.removeprefix(BOM_UTF8).lstrip().startswith(b"{")
        return self._kept(text, "stdin.jsonl" if lines else "stdin.tsv")

    def _read(self) -> bytes:
        if self._taken:
            raise InputError("Only one file can be -: standard input is read once.", field="path")
        self._taken = True
        return sys.stdin.buffer.read()

    def _kept(self, text: bytes, name: str) -> Path:
        kept = self._folder / name
        kept.write_bytes(text)
        return kept
