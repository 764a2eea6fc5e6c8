"""The card of an adapter, `ape.json`: its base model, prompt format, languages and training."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from ape.edits.filter import EditFilter
from ape.errors import AdapterRefused
from ape.files.atomic import explain_write_errors, write_text_atomic
from ape.files.hashing import hash_bytes
from ape.files.rows import describe_validation_error
from prompts import FORMATS

CARD_FILE = "ape.json"


class AdapterCardBase(BaseModel):
    """The model that the adapter was trained on."""

    model_config = ConfigDict(frozen=True)

    model: str = Field(min_length=1, description="its hub id or name")
    revision: str | None = Field(None, description="of the hub")
    fingerprint: str | None = Field(None, description="of its shape and weights")


class AdapterCard(BaseModel):
    """The description of an adapter. Unknown fields, from later versions, are ignored."""

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
        """The name of the prompt format; AdapterRefused if it is unknown or has changed since the training."""
        known = FORMATS.get(self.prompt.partition("@")[0])
        if known is None:
            raise AdapterRefused(
                f"It was trained in the prompt format {self.prompt}, which is not known here. "
                f"There is: {', '.join(form.fingerprint for form in FORMATS.values())}."
            )
        if self.prompt != known.fingerprint:
            raise AdapterRefused(
                f"It was trained in the prompt format {self.prompt}, and here that format is {known.fingerprint}: "
                "its prompts would differ from those of its training. Use the version that trained it."
            )
        return known.name

    @property
    def decides(self) -> bytes:
        """The fields that answers depend on, as JSON."""
        fields = self.model_dump(mode="json", include={"prompt", "stop", "gate"})
        return json.dumps(fields, sort_keys=True).encode()

    @property
    def fingerprint(self) -> str:
        """A digest of the fields that answers depend on; results are stored with it."""
        return f"card@{hash_bytes(self.decides, length=16)}"


class _NotJson(ValueError):
    pass


def _refuse_constant(name: str) -> None:
    raise _NotJson(f"{name} is not a number")


def read_card(directory: Path) -> AdapterCard:
    """Read the card of an adapter directory."""
    try:
        return AdapterCard.model_validate(
            json.loads((directory / CARD_FILE).read_bytes(), parse_constant=_refuse_constant)
        )
    except OSError as error:
        raise AdapterRefused(
            f"It has no {CARD_FILE}, so its prompt format is unknown. Training writes that file; an adapter from "
            "elsewhere needs one too.",
            field="card",
        ) from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError, _NotJson) as error:
        raise AdapterRefused(f"Its {CARD_FILE} can't be read: it is not JSON ({error}).") from error
    except ValidationError as error:
        message = describe_validation_error(error, root="file")
        raise AdapterRefused(f"Its {CARD_FILE} can't be read: {message}.") from error


def write_card(directory: Path, card: AdapterCard) -> Path:
    """Write the card into the directory."""
    return _write(directory / CARD_FILE, card.model_dump_json(indent=2))


def amend_card(directory: Path, changes: Mapping[str, object]) -> Path:
    """Change some fields of the card; the others are preserved, including unknown ones."""
    path = directory / CARD_FILE
    with explain_write_errors(path):
        amended = {**json.loads(path.read_bytes()), **changes}
        return _write(path, json.dumps(amended, indent=2, ensure_ascii=False))


def _write(path: Path, text: str) -> Path:
    write_text_atomic(path, text + "\n")
    return path
