"""Convert a PEFT adapter to a GGUF LoRA, which llama.cpp applies to any GGUF file of the same model.

Two points that other converters miss:

- Rotary embeddings pair neighbouring rows in llama.cpp, and rows half a head apart in transformers. A GGUF file has the
  rows of q and k in llama.cpp's order, so lora_B needs the same order. Without it many outputs are still right.
- llama.cpp scales every pair by one alpha over the rank of the pair. Other scalings of PEFT (rslora, rank and alpha
  patterns) are multiplied into lora_B; for a plain LoRA that factor is 1.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ape.adapters import read_adapter, read_base
from ape.adapters.directory import CONFIG_FILE, WEIGHTS_FILE
from ape.adapters.gguf import NORMS_KEY, norms_hash
from ape.adapters.safetensors_header import read_safetensors_header
from ape.errors import AdapterRefused
from ape.files.atomic import new_output
from finetune.base_model import BaseLocation

FloatArray = NDArray[np.float32]
LoraPrecision = Literal["float16", "float32"]
_PREFIX = "base_model.model."
_LARGEST_HALF = float(np.finfo(np.float16).max)


@dataclass(frozen=True, slots=True)
class GgufFamily:
    """How GGUF stores a model type of transformers; the rows of `permuted_modules` are in another order."""

    architecture: str
    permuted_modules: tuple[str, ...] = ()


_ROTARY = ("q_proj", "k_proj")
FAMILIES: Mapping[str, GgufFamily] = {
    "llama": GgufFamily("llama", permuted_modules=_ROTARY),
    "mistral": GgufFamily("llama", permuted_modules=_ROTARY),
    "qwen2": GgufFamily("qwen2"),
    "qwen3": GgufFamily("qwen3"),
}


@dataclass(frozen=True, slots=True)
class LoraFactors:
    """The two factors of a weight update: `down` is lora_A, `up` is lora_B."""

    down: FloatArray
    up: FloatArray


def write_gguf_lora(adapter: Path, base: BaseLocation, output: Path, *, precision: LoraPrecision = "float16") -> Path:
    """Write a new file; AdapterRefused if GGUF can't express the adapter."""
    read_adapter("adapter", adapter, base=read_base(base.location))
    config = json.loads((adapter / CONFIG_FILE).read_text(encoding="utf-8"))
    model = _model_config(base)
    family = _family(model)
    names = _Names(family, int(model["num_hidden_layers"]))
    pairs = {
        names.of(module): _permuted(pair, module, model, family) for module, pair in _scaled_factors(adapter, config)
    }
    _refuse_overflow(pairs, precision)
    with new_output(output) as draft:
        _write(draft, pairs, family, alpha=_alpha(config), norms=_norms(base, names), precision=precision)
    return output


def _model_config(base: BaseLocation) -> dict[str, Any]:
    from transformers import AutoConfig

    config: dict[str, Any] = AutoConfig.from_pretrained(base.location).to_dict()
    return config


def _family(model: Mapping[str, Any]) -> GgufFamily:
    kind = model.get("model_type")
    if kind not in FAMILIES:
        raise AdapterRefused(
            f"Models of the type {kind!r} can't be converted to GGUF here, only {', '.join(FAMILIES)}. Export a merged "
            "model, and convert that with llama.cpp's convert_hf_to_gguf.py."
        )
    return FAMILIES[str(kind)]


class _Names:
    """GGUF names of modules and tensors, from the `gguf` package."""

    def __init__(self, family: GgufFamily, layers: int) -> None:
        import gguf

        kinds = {name: kind for kind, name in gguf.MODEL_ARCH_NAMES.items()}
        self._map = gguf.get_tensor_name_map(kinds[family.architecture], layers)

    def of(self, module: str) -> str:
        name = self._map.get_name(module)
        if name is None:
            raise AdapterRefused(f"It changes {module}, for which GGUF has no name.")
        return f"{name}.weight"


def _scaled_factors(adapter: Path, config: Mapping[str, Any]) -> list[tuple[str, LoraFactors]]:
    """The factors of each module; lora_B includes any scaling beyond alpha over the rank."""
    sides: dict[str, dict[str, FloatArray]] = {}
    for name, tensor in read_safetensors_header(adapter / WEIGHTS_FILE).items():
        module, _, side = name.removeprefix(_PREFIX).removesuffix(".weight").rpartition(".")
        sides.setdefault(module, {})[side] = tensor.read().reshape(tensor.shape)
    found = []
    for module, both in sides.items():
        rank = both["lora_A"].shape[0]
        factor = _scaling(config, module, rank) * rank / _alpha(config)
        up = both["lora_B"] if factor == 1 else both["lora_B"] * np.float32(factor)
        found.append((module, LoraFactors(both["lora_A"], up)))
    return found


def _alpha(config: Mapping[str, Any]) -> float:
    """The alpha of all pairs. llama.cpp takes zero for "do not scale"."""
    return float(config["lora_alpha"]) or 1.0


def _scaling(config: Mapping[str, Any], module: str, rank: int) -> float:
    from peft.utils.other import get_pattern_key

    pattern: dict[str, float] = config.get("alpha_pattern") or {}
    alpha = pattern.get(get_pattern_key(list(pattern), module), float(config["lora_alpha"]))
    return alpha / (math.sqrt(rank) if config.get("use_rslora") else rank)


def _permuted(pair: LoraFactors, module: str, model: Mapping[str, Any], family: GgufFamily) -> LoraFactors:
    last = module.rpartition(".")[2]
    if last not in family.permuted_modules:
        return pair
    heads = int(model["num_attention_heads"])
    if last == "k_proj":
        heads = int(model.get("num_key_value_heads") or heads)
    return LoraFactors(pair.down, permute_rotary_rows(pair.up, heads))


def permute_rotary_rows(rows: FloatArray, heads: int) -> FloatArray:
    """Make rows half a head apart neighbours, head by head."""
    halves = rows.reshape(heads, 2, len(rows) // heads // 2, -1)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(rows.shape))


def _refuse_overflow(pairs: Mapping[str, LoraFactors], precision: LoraPrecision) -> None:
    for name, pair in pairs.items():
        largest = max(float(np.abs(side).max(initial=0)) for side in (pair.down, pair.up))
        if precision == "float16" and largest > _LARGEST_HALF:
            raise AdapterRefused(
                f"A weight of {name} is {largest:g}, too large for float16. Export with the precision float32."
            )


def _norms(base: BaseLocation, names: _Names) -> str | None:
    """Hash of the base's norm weights, by which a GGUF file is recognised as the same base."""
    directory = Path(base.location)
    if not directory.is_dir():
        from huggingface_hub import snapshot_download

        directory = Path(snapshot_download(base.location, local_files_only=True))
    norms: dict[str, FloatArray] = {}
    for path in sorted(directory.glob("*.safetensors")):
        for name, tensor in read_safetensors_header(path).items():
            if name.endswith("norm.weight") and tensor.is_float:
                norms[names.of(name.removesuffix(".weight"))] = tensor.read()
    return norms_hash(norms) if norms else None


def _write(
    path: Path,
    pairs: Mapping[str, LoraFactors],
    family: GgufFamily,
    *,
    alpha: float,
    norms: str | None,
    precision: LoraPrecision,
) -> None:
    import gguf

    writer: Any = gguf.GGUFWriter(path, family.architecture)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, alpha)
    if norms:
        writer.add_string(NORMS_KEY, norms)
    for name, pair in pairs.items():
        writer.add_tensor(f"{name}.lora_a", pair.down.astype(precision))
        writer.add_tensor(f"{name}.lora_b", pair.up.astype(precision))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
