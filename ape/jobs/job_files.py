"""A job's files, and its id."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ape.files.hashing import hash_text


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


def job_id(files: JobFiles, output: Path) -> str:
    """The id of a job: equal paths give an equal id."""
    paths = [str(path.resolve()) if path else "" for path in (files.source, files.mt, output)]
    return hash_text("\0".join(paths), length=10, errors="replace")
