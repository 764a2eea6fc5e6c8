"""Tiny models and adapters on disk, valid or damaged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ape.adapters import AdapterCard, AdapterCardBase, read_base, write_card
from ape.adapters.gguf import GGUF_FILE
from ape.models.gguf_header import read_gguf_header
from prompts import SEP, prompt_format

LAYERS, WIDTH, INNER, WORDS = 2, 8, 12, 16
CONFIG = {
    "model_type": "llama",
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "vocab_size": WORDS,
}
Arrays = Mapping[str, NDArray[Any]]
_NAMES = {"<f4": "F32", "<f2": "F16", "<u2": "BF16"}


def write_tensors(path: Path, tensors: Arrays) -> None:
    """Write a safetensors file; 16-bit integers are bfloat16."""
    header, body = {}, b""
    for name, array in tensors.items():
        content = array.tobytes()
        header[name] = {
            "dtype": _NAMES[array.dtype.str],
            "shape": list(array.shape),
            "data_offsets": [len(body), len(body) + len(content)],
        }
        body += content
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def weights(seed: int = 1) -> dict[str, NDArray[np.float32]]:
    """Tensors of a model with two layers, exact in bfloat16."""
    random = np.random.default_rng(seed)

    def some(*shape: int) -> NDArray[np.float32]:
        return (random.integers(-64, 64, shape) / 64).astype(np.float32)

    tensors = {"model.embed_tokens.weight": some(WORDS, WIDTH), "model.norm.weight": some(WIDTH)}
    for layer in range(LAYERS):
        tensors[f"model.layers.{layer}.self_attn.q_proj.weight"] = some(WIDTH, WIDTH)
        tensors[f"model.layers.{layer}.mlp.down_proj.weight"] = some(WIDTH, INNER)
        tensors[f"model.layers.{layer}.input_layernorm.weight"] = some(WIDTH)
    return tensors


def make_base(directory: Path, *, seed: int = 1, config: Mapping[str, object] | None = None) -> Path:
    """A model directory."""
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps({**CONFIG, **(config or {})}))
    write_tensors(directory / "model.safetensors", weights(seed))
    return directory


def lora(rank: int = 2, *, seed: int = 1) -> dict[str, NDArray[np.float32]]:
    """Weights of an adapter for the query of every layer."""
    random = np.random.default_rng(seed)
    tensors = {}
    for layer in range(LAYERS):
        module = f"base_model.model.model.layers.{layer}.self_attn.q_proj"
        tensors[f"{module}.lora_A.weight"] = random.normal(size=(rank, WIDTH)).astype(np.float32)
        tensors[f"{module}.lora_B.weight"] = random.normal(size=(WIDTH, rank)).astype(np.float32)
    return tensors


def make_adapter(
    directory: Path,
    base: Path,
    *,
    form: str = "sep",
    rank: int = 2,
    seed: int = 1,
    config: Mapping[str, object] | None = None,
    tensors: Arrays | None = None,
    **changes: Any,
) -> Path:
    """An adapter directory for a base; `changes` replace fields of its card."""
    directory.mkdir(parents=True)
    stated = {"peft_type": "LORA", "r": rank, "lora_alpha": 4, "target_modules": ["q_proj"], "bias": "none"}
    (directory / "adapter_config.json").write_text(json.dumps({**stated, **(config or {})}))
    write_tensors(directory / "adapter_model.safetensors", lora(rank, seed=seed) if tensors is None else tensors)
    card = AdapterCard(
        base=AdapterCardBase(model="someone/tiny", fingerprint=read_base(str(base)).fingerprint),
        prompt=prompt_format(form).fingerprint,
        languages=("fr-en",),
        parity={"identical": 50, "prompts": 50},
    )
    write_card(directory, card.model_copy(update=changes))
    return directory


def make_gguf_adapter(directory: Path, base: Path, *, seed: int = 1, **changes: Any) -> Path:
    """An adapter of rank 2 for a GGUF base, with random weights too small to matter."""
    import gguf

    module = "blk.0.attn_q.weight"
    rows, columns = read_gguf_header(base).tensors[module].shape
    random = np.random.default_rng(seed)
    directory.mkdir(parents=True)
    writer: Any = gguf.GGUFWriter(directory / GGUF_FILE, "llama")
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, 2.0)
    writer.add_tensor(f"{module}.lora_a", random.normal(size=(2, columns)).astype(np.float32))
    writer.add_tensor(f"{module}.lora_b", random.normal(size=(rows, 2), scale=1e-5).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    card = AdapterCard(base=AdapterCardBase(model="smollm2-135m"), prompt=SEP.fingerprint, languages=("et-en", "ro-en"))
    write_card(directory, card.model_copy(update=changes))
    return directory
