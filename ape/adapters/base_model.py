"""Identify base models by a fingerprint of their shape and some of their weights, in any precision.

A name is not enough: the same weights may be in a directory or under a hub id, and an instruct model has the shape of
the model it was made from. The fingerprint covers the first rows of the embedding and every norm. Rounded to bfloat16,
they are the same in float32, float16 and bfloat16 copies of a model, and if only the linear layers are quantised.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ape.adapters.safetensors_header import DamagedSafetensors, SafetensorsTensor, read_safetensors_header
from ape.errors import ModelError

_SHAPE = (
    "model_type",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "vocab_size",
)
_EMBEDDINGS = ("embed_tokens.weight", "wte.weight", "word_embeddings.weight")
_SAMPLED_VALUES = 4096


@dataclass(frozen=True, slots=True)
class AdapterBase:
    """A base model: its name, and its fingerprint and the `dimensions` (out, in) of its linear layers if known."""

    name: str
    fingerprint: str | None = None
    dimensions: dict[str, tuple[int, ...]] | None = None


def read_base(model: str) -> AdapterBase:
    """Read the base model in a directory, or of a hub id if it is cached on this machine."""
    directory = _directory(model)
    if directory is None:
        return AdapterBase(model)
    try:
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        tensors = _tensors(directory)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{model} can't be read as a model: {error}. Is it a Hugging Face model, with config.json and safetensors?"
        ) from error
    if not tensors:
        return AdapterBase(model)
    dimensions = None if "quantization_config" in config else _dimensions(tensors)
    return AdapterBase(model, _fingerprint(config, tensors), dimensions)


def _directory(model: str) -> Path | None:
    if Path(model).is_dir():
        return Path(model)
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:
        return None
    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, HfHubHTTPError):
        return None


def _tensors(directory: Path) -> dict[str, SafetensorsTensor]:
    found: dict[str, SafetensorsTensor] = {}
    for path in sorted(directory.glob("*.safetensors")):
        try:
            found |= read_safetensors_header(path)
        except DamagedSafetensors as error:
            raise ValueError(f"{path.name} is damaged ({error})") from error
    return found


def _dimensions(tensors: dict[str, SafetensorsTensor]) -> dict[str, tuple[int, ...]]:
    return {name: tensor.shape for name, tensor in tensors.items() if len(tensor.shape) == 2}


def _fingerprint(config: dict[str, Any], tensors: dict[str, SafetensorsTensor]) -> str:
    # Multimodal models have the shape of their language part in text_config.
    text = config.get("text_config") if isinstance(config.get("text_config"), dict) else config
    shape = {name: text.get(name) for name in _SHAPE} if text else {}
    digest = hashlib.sha256(json.dumps(shape, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        if tensor.is_float and name.endswith((*_EMBEDDINGS, "norm.weight")):
            digest.update(name.encode())
            digest.update(round_to_bfloat16(tensor.read(limit=_SAMPLED_VALUES)).tobytes())
    return f"base@{digest.hexdigest()[:16]}"


def round_to_bfloat16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Round to the nearest bfloat16, ties to even, as all libraries do."""
    bits = values.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
