"""Write a training set atomically, in a hidden folder that is renamed at the end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from ape.errors import InputError


def refuse_existing_output(directory: Path, *, replace: bool) -> None:
    """Refuse an existing directory before the work starts."""
    if directory.exists() and not replace:
        raise InputError(
            f"{directory} is there already. Choose another directory, or allow replacing it.", field="replace"
        )
    if directory.exists() and not _is_training_set(directory):
        raise InputError(
            f"{directory} is not a training set (it has no manifest.json), so it is not replaced.", field="out"
        )


def _is_training_set(directory: Path) -> bool:
    return directory.is_dir() and ((directory / "manifest.json").is_file() or not any(directory.iterdir()))


def write_directory(directory: Path, write: Callable[[Path], None], *, replace: bool) -> None:
    """Let `write` fill a folder, which then replaces the directory."""
    refuse_existing_output(directory, replace=replace)
    part: Path | None = None
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
        part.chmod(0o755)
        write(part)
        if directory.exists():
            old = part.with_name(f"{part.name}-old")
            directory.rename(old)
            part.rename(directory)
            shutil.rmtree(old)
        else:
            part.rename(directory)
    except OSError as error:
        raise InputError(f"{directory} can't be written: {error.strerror or error}.") from error
    finally:
        if part is not None:
            shutil.rmtree(part, ignore_errors=True)
