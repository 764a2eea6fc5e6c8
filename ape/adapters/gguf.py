"""Adapters of the embedded engine: `adapter.gguf` and its card, checked before llama.cpp loads it.

llama.cpp only compares shapes, so an adapter of another model of the same size would load and write nonsense. Norms
identify a model: they are never quantised, so all GGUF files of a model have the same ones. The export stores their
hash in the adapter, rounded to bfloat16 so that it does not depend on the precision.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ape.adapters.base_model import round_to_bfloat16
from ape.adapters.card import AdapterCard, read_card
from ape.adapters.directory import check_adapter_name
from ape.errors import AdapterRefused
from ape.models.gguf_header import DamagedGguf, GgufHeader, read_gguf_header

GGUF_FILE = "adapter.gguf"
NORMS_KEY = "ape.base.norms"
ARCHITECTURE_KEY = "general.architecture"
_SIDES = (".lora_a", ".lora_b")


@dataclass(frozen=True, slots=True)
class GgufAdapter:
    """A checked adapter of the embedded engine. `revision` is a hash of its file and prompt format."""

    name: str
    path: Path
    card: AdapterCard
    format: str
    rank: int
    revision: str


def read_gguf_adapter(name: str, directory: Path, *, base: Path) -> GgufAdapter:
    """Read an adapter and check it against its base, a GGUF file; raises AdapterRefused with the reason."""
    check_adapter_name(name)
    card = read_card(directory)
    form = card.format
    path = directory / GGUF_FILE
    try:
        header = read_gguf_header(path)
    except FileNotFoundError as error:
        raise AdapterRefused(
            f"It has no {GGUF_FILE}, which the embedded engine needs. Export the adapter to GGUF.", field="gguf"
        ) from error
    except (DamagedGguf, OSError) as error:
        raise AdapterRefused(f"Its {GGUF_FILE} is damaged: {error}. Copy or export it again.") from error
    if header.metadata.get("adapter.type") != "lora":
        raise AdapterRefused(f"Its {GGUF_FILE} is not a LoRA adapter.")
    _refuse_another_base(header, card, read_gguf_header(base))
    return GgufAdapter(name, path, card, form, _rank(header), _revision(card, path))


def norms_hash(norms: Mapping[str, NDArray[np.float32]]) -> str:
    """The digest of a model's norms by their names in GGUF."""
    digest = hashlib.sha256()
    for name in sorted(norms):
        digest.update(name.encode())
        digest.update(round_to_bfloat16(norms[name]).tobytes())
    return f"norms@{digest.hexdigest()[:16]}"


def _refuse_another_base(header: GgufHeader, card: AdapterCard, base: GgufHeader) -> None:
    theirs, ours = header.metadata.get(ARCHITECTURE_KEY), base.metadata.get(ARCHITECTURE_KEY)
    if theirs != ours:
        raise AdapterRefused(f"It was made for a model of the architecture {theirs}, and {ours} is served.")
    if (stated := header.metadata.get(NORMS_KEY)) and stated != _norms(base):
        raise AdapterRefused(
            f"It was trained on {card.base.model}, and {base.path.name} is served here: another model."
        )
    for name in header.tensors:
        _refuse_another_shape(name, header, base)


def _refuse_another_shape(name: str, header: GgufHeader, base: GgufHeader) -> None:
    module, side = name[: -len(_SIDES[0])], name[-len(_SIDES[0]) :]
    if side not in _SIDES:
        raise AdapterRefused(f"Its {GGUF_FILE} has {name!r}, and should hold only LoRA weights.")
    if module not in base.tensors:
        raise AdapterRefused(f"It changes {module}, which {base.path.name} does not have.")
    expected, actual = base.tensors[module].shape, header.tensors[name].shape
    fits = actual[-1:] == expected[-1:] if side == ".lora_a" else actual[:1] == expected[:1]
    if not fits or not all(module + half in header.tensors for half in _SIDES):
        raise AdapterRefused(f"For {module} it has the shape {actual}, and {base.path.name} has {expected}.")


def _rank(header: GgufHeader) -> int:
    downs = (tensor for name, tensor in header.tensors.items() if name.endswith(_SIDES[0]))
    return max((tensor.shape[0] for tensor in downs), default=0)


def _norms(base: GgufHeader) -> str:
    return norms_hash(
        {
            name: base.read(name)
            for name, tensor in base.tensors.items()
            if name.endswith("norm.weight") and tensor.is_plain
        }
    )


def _revision(card: AdapterCard, path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    digest.update(card.decides)
    return digest.hexdigest()[:16]
