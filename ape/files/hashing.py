"""SHA-256 digests of files, texts and JSON values.

Digests are part of file formats, cache keys and fingerprints: a change of any of them loses what was stored.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ape.errors import InputError


def hash_file(path: Path, *, length: int = 64) -> str:
    """The digest of a file's content, as its first `length` hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:length]


def hash_input(path: Path | None) -> str:
    """The digest of a file that the user named; "" for None, InputError if it can't be read."""
    try:
        return hash_file(path) if path else ""
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.") from error


def hash_bytes(content: bytes, *, length: int = 64) -> str:
    """The digest of some bytes."""
    return hashlib.sha256(content).hexdigest()[:length]


def hash_text(text: str, *, length: int = 64, errors: str = "strict") -> str:
    """The digest of a text in UTF-8; `errors` says what becomes of a lone surrogate, as in `str.encode`."""
    return hash_bytes(text.encode("utf-8", errors), length=length)


def hash_json(value: Any, *, length: int = 64, errors: str = "strict", ascii: bool = False) -> str:
    """The digest of a value as JSON with sorted keys."""
    return hash_text(json.dumps(value, ensure_ascii=ascii, sort_keys=True), length=length, errors=errors)
