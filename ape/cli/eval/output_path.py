"""Where results are to be written, looked at before they are measured: a typing error should not cost an hour."""

from __future__ import annotations

from pathlib import Path

from ape.errors import InputError


def check_output_file(path: Path | None, *, flag: str) -> None:
    """Refuse a file that can't be written, as its folder is not there or it is a folder itself."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{flag} {path} is a folder: name a file in it.", field="out")
    if not path.parent.is_dir():
        raise InputError(f"{flag} {path}: there is no folder {path.parent}. Make it first.", field="out")
