"""The result in the adapter's card: all else that is written there stays, also what this version does not know."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ape.adapters import CARD
from ape.errors import InputError


def record(directory: Path, parity: Mapping[str, Any]) -> None:
    """Put it into `ape.json`, which is never half written: a server may read it at any time."""
    path = directory / CARD
    try:
        told = {**json.loads(path.read_bytes()), "parity": dict(parity)}
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=directory, delete=False) as draft:
            try:
                draft.write(json.dumps(told, indent=2, ensure_ascii=False) + "\n")
                draft.close()
                Path(draft.name).chmod(path.stat().st_mode & 0o777)
                os.replace(draft.name, path)  # noqa: PTH105 - atomic
            except BaseException:
                Path(draft.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}.") from error
