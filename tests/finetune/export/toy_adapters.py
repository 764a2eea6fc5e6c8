"""Tiny random models, for transformers and for llama.cpp, and random adapters of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import ByteLevel as FromBytes
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Digits
from tokenizers.pre_tokenizers import Sequence as InTurn
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    MistralConfig,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen3Config,
)

from ape.adapters import AdapterCard, AdapterCardBase, read_base, write_card
from finetune.export.gguf_lora import FAMILIES, _Names, permute_rotary_rows
from finetune.progress_bars import hide_progress_bars
from prompts import prompt_format

SEED = 3
CONFIGS: dict[str, Any] = {"llama": LlamaConfig, "mistral": MistralConfig, "qwen2": Qwen2Config, "qwen3": Qwen3Config}
# All bytes and some pairs are tokens; the pair of digits is never used, since digits are split.
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MERGES = (("Ġ", "Ġ"), ("Ċ", "Ċ"), ("t", "h"), ("1", "2"))
WORDS = (*SPECIAL, *sorted(ByteLevel.alphabet()), *(first + second for first, second in MERGES))
END = SPECIAL.index("<|im_end|>")
SHAPE = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 2048,
    "sliding_window": None,
    "vocab_size": len(WORDS),
    "tie_word_embeddings": True,
    "initializer_range": 0.3,  # large, so that the best token is well above the next
    "bos_token_id": SPECIAL.index("<|im_start|>"),
    "eos_token_id": END,
}
ALL_LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def make_tiny(folder: Path, *, kind: str = "llama", seed: int = SEED) -> Path:
    """Write a model with random weights, including norms, and its tokenizer."""
    torch.manual_seed(seed)
    models: Any = AutoModelForCausalLM
    model = models.from_config(CONFIGS[kind](**SHAPE))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("norm.weight"):
                weight.uniform_(0.5, 1.5)
    with hide_progress_bars():
        model.save_pretrained(folder)
    make_tokenizer().save_pretrained(str(folder))
    return folder


def make_tokenizer() -> Any:
    """Make a tokenizer of WORDS."""
    tokenizer = Tokenizer(BPE({word: place for place, word in enumerate(WORDS)}, list(MERGES)))
    tokenizer.pre_tokenizer = InTurn([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = FromBytes()
    tokenizer.add_special_tokens([AddedToken(word, special=True) for word in SPECIAL])
    wrapped: Any = PreTrainedTokenizerFast
    return wrapped(tokenizer_object=tokenizer, bos_token=SPECIAL[1], eos_token=SPECIAL[2], pad_token=SPECIAL[2])


def make_gguf(directory: Path, path: Path) -> Path:
    """Write the model as a GGUF file in float32."""
    model = _load(directory)
    config = model.config
    family = FAMILIES[config.model_type]
    writer: Any = gguf.GGUFWriter(path, family.architecture)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    _add_words(writer)
    names = _Names(family, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        if name != "lm_head.weight":
            writer.add_tensor(*_tensor(name, tensor.numpy(), config, names))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _load(directory: Path) -> Any:
    with hide_progress_bars():
        return AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)


def _add_words(writer: Any) -> None:
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(list(WORDS))
    kinds = (gguf.TokenType.CONTROL, gguf.TokenType.NORMAL)
    writer.add_token_types([kinds[place >= len(SPECIAL)] for place in range(len(WORDS))])
    writer.add_token_merges([" ".join(pair) for pair in MERGES])
    writer.add_bos_token_id(SPECIAL.index("<|im_start|>"))
    writer.add_eos_token_id(END)
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)


def _tensor(name: str, values: Any, config: Any, names: _Names) -> tuple[str, Any]:
    module, _, part = name.rpartition(".")
    last = module.rpartition(".")[2]
    if last in FAMILIES[config.model_type].permuted_modules:
        heads = config.num_attention_heads if last == "q_proj" else config.num_key_value_heads
        values = permute_rotary_rows(values, heads)
    return names.of(module).removesuffix("weight") + part, values.astype(np.float32)


def make_adapter(
    folder: Path,
    base: Path,
    *,
    seed: int = SEED,
    strength: float = 0.5,
    form: str = "sep",
    card_base: AdapterCardBase | None = None,
    **options: Any,
) -> Path:
    """Write a LoRA; `strength` is the norm of its change relative to the weights of each module."""
    torch.manual_seed(seed)
    settings: dict[str, Any] = {"r": 4, "lora_alpha": 8, "target_modules": ALL_LINEAR} | options
    tuned: Any = get_peft_model(_load(base), LoraConfig(**settings, task_type="CAUSAL_LM"))
    with torch.no_grad():
        for module in tuned.modules():
            if getattr(module, "lora_B", None):
                _draw(module, strength)
    tuned.save_pretrained(folder, save_embedding_layers=False)
    card_base = card_base or AdapterCardBase(model="tiny", fingerprint=read_base(str(base)).fingerprint)
    write_card(folder, AdapterCard(base=card_base, prompt=prompt_format(form).fingerprint, languages=("fr-en",)))
    return folder


def _draw(module: Any, strength: float) -> None:
    down, up = module.lora_A["default"].weight, module.lora_B["default"].weight
    down.normal_()
    up.normal_()
    change = module.scaling["default"] * (up @ down).norm()
    up.mul_(strength * module.base_layer.weight.norm() / change)
