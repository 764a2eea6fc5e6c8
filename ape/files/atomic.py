"""Output that is there whole or not at all: written beside its place, and put there by one rename."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ape.errors import InputError


@contextmanager
def atomic_output(place: Path, *, folder: bool = False, over: bool = False) -> Iterator[Path]:
    """A file name, or a folder, to write to; it takes the place at the end of the block.

    The place has to be free, unless a file may be written `over`.
    """
    if not over:
        refuse_existing_path(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".export-", dir=place.parent))
    except OSError as error:
        raise _write_error(place, error) from error
    draft = scratch / place.name
    try:
        if folder:
            draft.mkdir()
        yield draft
        if not over:
            refuse_existing_path(place)
        os.replace(draft, place)  # noqa: PTH105 - atomic
    except OSError as error:
        raise _write_error(place, error) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def refuse_existing_path(place: Path) -> None:
    """Nothing is written over: what is there may be served at this moment."""
    if place.exists() or place.is_symlink():
        raise InputError(f"{place} is there already. Choose another place, or remove it first.", field="out")


def _write_error(place: Path, error: OSError) -> InputError:
    return InputError(
        f"{place} can't be written: {error.strerror or error}. Make room, or choose another place."
    )
