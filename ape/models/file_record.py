"""A record of each downloaded model: its hash, with the size and time of the file then.

Loading a model compares size and time, which is quick; only where they differ is the whole file read again.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ape.files.atomic import write_text_atomic
from ape.models.checksum import FileChecksum


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The hash of a file, and its size and modification time when the hash was computed."""

    size: int
    modified_ns: int
    sha256: str

    def describes(self, path: Path) -> bool:
        """Whether size and time of the file are still the same."""
        found = path.stat()
        return (found.st_size, found.st_mtime_ns) == (self.size, self.modified_ns)


def record_path(path: Path) -> Path:
    """The record of a model file, stored next to it."""
    return path.with_name(f"{path.name}.json")


def write_record(path: Path, checksum: FileChecksum) -> None:
    """Record the hash of a file; a folder that can't be written to is no error, only slower next time."""
    record = FileRecord(checksum.size, path.stat().st_mtime_ns, checksum.sha256)
    with suppress(OSError):
        write_text_atomic(record_path(path), json.dumps(asdict(record)) + "\n")


def read_record(path: Path) -> FileRecord | None:
    """The record of a model file, or None if there is none that can be read."""
    try:
        found = json.loads(record_path(path).read_text(encoding="utf-8"))
        return FileRecord(int(found["size"]), int(found["modified_ns"]), str(found["sha256"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
