"""`ape.json`: what an adapter was trained for and how it is to be asked, beside its weights."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from ape.edits.filter import EditFilter
from ape.errors import AdapterRefused, InputError
from prompts import FORMATS

CARD_FILE = "ape.json"


class AdapterCardBase(BaseModel):
    """The model that the adapter was trained on."""

    model_config = ConfigDict(frozen=True)

    model: str = Field(min_length=1, description="its hub id or name")
    revision: str | None = Field(None, description="of the hub")
    fingerprint: str | None = Field(None, description="of its shape and weights")


class AdapterCard(BaseModel):
    """An adapter's description. What a later version adds is ignored by an earlier one."""

    model_config = ConfigDict(frozen=True)

    version: Literal[1] = 1
    base: AdapterCardBase
    prompt: str = Field(
        pattern=r"^[a-z]+@[0-9a-f]{12}$", description="the format that it was trained in, with its hash"
    )
    separators: tuple[str, ...] = Field((), description="of that format, for other programs")
    stop: tuple[str, ...] = Field((), description="what ends an answer besides the end token")
    languages: tuple[str, ...] = Field((), description='pairs as "fr-en"; none: any')
    data: str | None = Field(None, description="hash of the manifest of its training data")
    training: dict[str, JsonValue] = Field({}, description="settings of the training")
    gate: EditFilter | None = Field(None, description="which of its edits to let through")
    parity: dict[str, JsonValue] | None = Field(
        None, description="how far served outputs were those of the training library"
    )

    @property
    def format(self) -> str:
        """The format by name; raises where it is not one of ours, or no longer the one that it was trained in."""
        known = FORMATS.get(self.prompt.partition("@")[0])
        if known is None:
            raise AdapterRefused(
                f"It was trained in the prompt format {self.prompt}, which is not known here. "
                f"There is: {', '.join(one.fingerprint for one in FORMATS.values())}."
            )
        if self.prompt != known.fingerprint:
            raise AdapterRefused(
                f"It was trained in the prompt format {self.prompt}, and here that format is {known.fingerprint}: "
                "it would be asked in other words than it was taught. Use the version of ape that trained it."
            )
        return known.name

    @property
    def decides(self) -> bytes:
        """What of it an answer depends on, besides the weights. Results of a check, say, change no answer."""
        told = self.model_dump(mode="json", include={"prompt", "stop", "gate"})
        return json.dumps(told, sort_keys=True).encode()

    @property
    def fingerprint(self) -> str:
        """That in short, by which results are known to be of this very gate and format."""
        return f"card@{hashlib.sha256(self.decides).hexdigest()[:16]}"


class _NotJson(ValueError):
    pass


def _refuse_constant(name: str) -> None:
    raise _NotJson(f"{name} is no number")


def read_card(directory: Path) -> AdapterCard:
    """The card of an adapter directory."""
    try:
        return AdapterCard.model_validate(
            json.loads((directory / CARD_FILE).read_bytes(), parse_constant=_refuse_constant)
        )
    except OSError as error:
        raise AdapterRefused(
            f"It has no {CARD_FILE}, so nobody knows in which format to ask it. Training writes that file; "
            "for an adapter from elsewhere, `ape models card` does."
        ) from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError, _NotJson) as error:
        raise AdapterRefused(f"Its {CARD_FILE} can't be read: it is not JSON ({error}).") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise AdapterRefused(f"Its {CARD_FILE} can't be read: {place or 'file'}: {first['msg']}.") from error


def write_card(directory: Path, card: AdapterCard) -> Path:
    """Put the card into the directory."""
    return _write_atomic(directory / CARD_FILE, card.model_dump_json(indent=2))


def amend_card(directory: Path, changes: Mapping[str, object]) -> Path:
    """Change some of what is written in the card; all else stays, also what this version does not know."""
    path = directory / CARD_FILE
    try:
        told = {**json.loads(path.read_bytes()), **changes}
        return _write_atomic(path, json.dumps(told, indent=2, ensure_ascii=False))
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}.") from error


def _write_atomic(path: Path, text: str) -> Path:
    """At one stroke: a server may read it at any time, and a full disk leaves what was there."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as draft:
        try:
            draft.write(text + "\n")
            draft.close()
            Path(draft.name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
            os.replace(draft.name, path)  # noqa: PTH105 - atomic
        except BaseException:
            Path(draft.name).unlink(missing_ok=True)
            raise
    return path
