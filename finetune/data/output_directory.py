"""Write a training set atomically, in a hidden folder that is renamed at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ape.errors import InputError
from ape.files.atomic import atomic_path, explain_write_errors


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
    with explain_write_errors(directory):
        directory.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(directory) as draft:
            draft.mkdir(mode=0o755)
            write(draft)
