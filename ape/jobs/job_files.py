"""The files of a job: which they are, by path and by content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ape.errors import InputError


@dataclass(frozen=True, slots=True)
class JobFiles:
    """What is to be edited: a source and its MT, or one bilingual file (then there is no source)."""

    source: Path | None
    mt: Path
    encoding: str | None = None
    format: str | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Those that there are."""
        return (self.source, self.mt) if self.source else (self.mt,)


def hash_file(path: Path | None) -> str:
    """The SHA-256 of a file, or a clear sentence where it can't be read; nothing for none."""
    if path is None:
        return ""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.") from error


def job_id(files: JobFiles, output: Path) -> str:
    """The same command is the same job."""
    paths = [str(path.resolve()) if path else "" for path in (files.source, files.mt, output)]
    return hashlib.sha256("\0".join(paths).encode("utf-8", "replace")).hexdigest()[:10]
