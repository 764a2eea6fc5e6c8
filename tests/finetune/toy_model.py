"""A model that trains in a second, its tokenizer, and a few sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from finetune.data.dataset import write_dataset
from finetune.data.example import Example
from finetune.training.config import TrainConfig

ANIMALS = (("chat", "cat"), ("chien", "dog"), ("cheval", "horse"), ("renard", "fox"), ("merle", "blackbird"))
PLACES = (
    ("", ""),
    (" dans le jardin", " in the garden"),
    (" sous la table de la cuisine", " under the table of the kitchen"),
    (
        " au bord de la rivière, où personne ne vient plus depuis la guerre",
        " at the edge of the river, where nobody has come since the war",
    ),
)
EXAMPLES = tuple(
    Example(
        f"{animal}{place}",
        "book",
        f"Le {animal} dort{place}.",
        f"The {english} sleep{where}.",
        f"The {english} sleeps{where}.",
        "fr",
        "en",
    )
    for place, where in PLACES
    for animal, english in ANIMALS
)
# 20 examples in batches of 8: an epoch has 3 steps.
CONFIG = TrainConfig(
    epochs=2,
    batch=8,
    micro_batch=4,
    learning_rate=0.01,
    lora={"rank": 4, "alpha": 8},
    watch={"every": 2, "examples": 2, "patience": 9},
)


def configured(**changes: Any) -> TrainConfig:
    """CONFIG with changes."""
    return TrainConfig.model_validate(CONFIG.model_dump() | changes)


def make_tokenizer() -> Any:
    """Train a byte-level BPE tokenizer on the sentences; its only special token is the end token."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    bytewise = ByteLevelBPETokenizer()
    texts = [text for one in EXAMPLES for text in (one.source, one.mt, one.human, "\n\n###\n\n")]
    bytewise.train_from_iterator(texts, vocab_size=400, special_tokens=["</s>"], show_progress=False)
    made: Any = PreTrainedTokenizerFast
    return made(tokenizer_object=bytewise._tokenizer, eos_token="</s>")


def make_model(tokenizer: Any, **changes: Any) -> Any:
    """Make a model of two layers with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    shape = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "initializer_range": 0.2,
    }
    ids = {"bos_token_id": None, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.eos_token_id}
    made: Any = LlamaForCausalLM
    return made(LlamaConfig(vocab_size=len(tokenizer), **(shape | ids | changes)))


def write_base(directory: Path) -> None:
    """Write model and tokenizer as a directory of the hub."""
    tokenizer = make_tokenizer()
    make_model(tokenizer).save_pretrained(directory)
    tokenizer.save_pretrained(directory)


def write_data(directory: Path) -> None:
    """Write the sentences as a training set; dev is a subset of train."""
    write_dataset(directory, {"train": EXAMPLES, "dev": EXAMPLES[::7]}, {"made": "for a test"})


def weights(directory: Path) -> dict[str, torch.Tensor]:
    """Weights of an adapter."""
    from safetensors.torch import load_file

    return load_file(directory / "adapter_model.safetensors")


def furthest(one: Path, other: Path) -> float:
    """Largest difference of two adapters in any weight."""
    these, those = weights(one), weights(other)
    assert these.keys() == those.keys()
    return max(float((these[name] - those[name]).abs().max()) for name in these)
