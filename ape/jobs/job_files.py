"""A job's files, and its id."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ape.errors import InputError
from ape.files import hashing


@dataclass(frozen=True, slots=True)
class JobFiles:
    """A source and its MT, or one bilingual file (then `source` is None)."""

    source: Path | None
    mt: Path
    encoding: str | None = None
    format: str | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that were given."""
        return (self.source, self.mt) if self.source else (self.mt,)


def hash_file(path: Path | None) -> str:
    """The SHA-256 of a file, "" for None. Raises InputError where it can't be read."""
    if path is None:
        return ""
    try:
        return hashing.hash_file(path)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.") from error


def job_id(files: JobFiles, output: Path) -> str:
    """The id of a job: equal paths give an equal id."""
    paths = [str(path.resolve()) if path else "" for path in (files.source, files.mt, output)]
    return hashing.hash_text("\0".join(paths), length=10, errors="replace")
