"""The network of the annotator in numpy: a small transformer over pieces, convolutions over words, and linear heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = Mapping[str, Floats]

HEAD_WIDTH = 32
DILATIONS = (1, 2)
# Empty rows between texts, so that convolutions do not reach into the next.
GAP = 2
_EPSILON = np.float32(1e-12)


@dataclass(frozen=True, slots=True)
class PieceBatch:
    """Texts as pieces, padded to one length: (texts, pieces)."""

    pieces: Integers
    lengths: Integers


def layers_of(weights: Weights) -> int:
    """The number of layers."""
    return sum(name.endswith(".query.weight") for name in weights)


def encode(weights: Weights, batch: PieceBatch) -> Floats:
    """The vectors of all pieces: (texts, pieces, width)."""
    texts, length = batch.pieces.shape
    state = weights["words"][batch.pieces] + weights["positions"][:length]
    state = _normalise(weights, "embedding.norm", state)
    is_padding = np.arange(length) >= batch.lengths[:, None]
    mask = np.where(is_padding, np.float32(-1e9), np.float32(0))[:, None, None, :]
    flat = state.reshape(texts * length, -1)
    for layer in range(layers_of(weights)):
        flat = _layer(weights, f"layer{layer}", flat, mask, (texts, length))
    return flat.reshape(texts, length, -1)


def convolve(weights: Weights, vectors: Floats, shapes: Integers, is_word: Floats) -> Floats:
    """The states of all words from their vectors and shapes; texts stand one after another with gaps."""
    state = _gelu(linear(weights, "input", vectors) + weights["shapes"][shapes]) * is_word
    for layer, dilation in enumerate(DILATIONS):
        normal = _normalise(weights, f"norm{layer}", state) * is_word
        padded = np.pad(normal, ((dilation, dilation), (0, 0)))
        window = np.concatenate([padded[shift : shift + len(state)] for shift in (0, dilation, 2 * dilation)], axis=1)
        state = state + _gelu(linear(weights, f"convolution{layer}", window)) * is_word
    return state


def linear(weights: Weights, name: str, values: Floats) -> Floats:
    """The linear map of that name."""
    result: Floats = values @ weights[f"{name}.weight"].T
    result += weights[f"{name}.bias"]
    return result


def _layer(weights: Weights, name: str, state: Floats, mask: Floats, shape: Sequence[int]) -> Floats:
    query, key, value = (
        linear(weights, f"{name}.{part}", state).reshape(*shape, -1, HEAD_WIDTH).transpose(0, 2, 1, 3)
        for part in ("query", "key", "value")
    )
    scores: Floats = query @ key.transpose(0, 1, 3, 2)
    scores *= np.float32(1 / np.sqrt(query.shape[-1]))
    scores += mask
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    context = np.asarray(scores @ value, np.float32).transpose(0, 2, 1, 3).reshape(len(state), -1)
    state = _normalise(weights, f"{name}.norm1", state + linear(weights, f"{name}.output", context))
    inner = linear(weights, f"{name}.down", _gelu(linear(weights, f"{name}.up", state)))
    return _normalise(weights, f"{name}.norm2", state + inner)


def _normalise(weights: Weights, name: str, values: Floats) -> Floats:
    centred: Floats = values - values.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + _EPSILON)
    centred /= spread
    centred *= weights[f"{name}.weight"]
    centred += weights[f"{name}.bias"]
    return centred


def _gelu(values: Floats) -> Floats:
    """GELU by its approximation with tanh, in place."""
    inner = np.square(values)
    inner *= np.float32(0.044715)
    inner += np.float32(1)
    inner *= values
    inner *= np.float32(0.7978845608)
    np.tanh(inner, out=inner)
    inner += np.float32(1)
    inner *= values
    inner *= np.float32(0.5)
    return inner
