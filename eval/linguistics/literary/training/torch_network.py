"""The annotator's network in torch, with the parameter names of the numpy one."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from eval.linguistics.literary.labels import KINDS, MAX_MENTION, NAME_LABELS, TAGS
from eval.linguistics.literary.network import DILATIONS, HEAD_WIDTH, Weights, layers_of
from eval.linguistics.literary.wordpiece import SHAPES

ENCODER_WIDTH = 384
WIDTH = 160
SPAN_WIDTH = 64
_DROPOUT = 0.2
_ENCODER_DROPOUT = 0.1
_EPSILON = 1e-12


def is_of_encoder(name: str) -> bool:
    """Whether weights of this name begin with the values of a trained encoder."""
    return name in ("words", "positions") or name.startswith(("layer", "embedding."))


class LiteraryNetwork(nn.Module):
    """A transformer over pieces, vectors of words with their shapes, convolutions, and the heads.

    The vectors of pieces and positions stay as they are; all else is trained.
    """

    words: Tensor
    positions: Tensor

    def __init__(self, encoder: Weights) -> None:
        super().__init__()
        for name in ("words", "positions"):
            self.register_buffer(name, torch.from_numpy(np.array(encoder[name])))
        self.embedding = nn.Module()
        self.embedding.norm = nn.LayerNorm(ENCODER_WIDTH, eps=_EPSILON)
        self.encoder_layers = layers_of(encoder)
        for layer in range(self.encoder_layers):
            self.add_module(
                f"layer{layer}", _EncoderLayer(*(len(encoder[f"layer{layer}.{part}.bias"]) for part in ("query", "up")))
            )
        self.load_state_dict(
            {name: torch.from_numpy(np.array(encoder[name])) for name in self.state_dict()}, strict=True
        )
        self.input = nn.Linear(ENCODER_WIDTH, WIDTH)
        self.shapes = nn.Parameter(torch.randn(2 * len(SHAPES), WIDTH) * 0.1)
        for layer in range(len(DILATIONS)):
            self.add_module(f"norm{layer}", nn.LayerNorm(WIDTH, eps=_EPSILON))
            self.add_module(f"convolution{layer}", nn.Linear(3 * WIDTH, WIDTH))
        self.tags = nn.Linear(WIDTH, len(TAGS))
        self.names = nn.Linear(WIDTH, len(NAME_LABELS))
        self.span_start, self.span_end = (nn.Linear(WIDTH, SPAN_WIDTH) for _ in range(2))
        self.kinds = nn.Linear(2 * WIDTH, len(KINDS))
        self.dropout = nn.Dropout(_DROPOUT)

    def encoder_parameters(self) -> list[nn.Parameter]:
        """Those that begin with the values of a trained encoder."""
        return [one for name, one in self.named_parameters() if is_of_encoder(name)]

    def head_parameters(self) -> list[nn.Parameter]:
        """Those that begin with random values."""
        return [one for name, one in self.named_parameters() if not is_of_encoder(name)]

    def encode(self, pieces: Tensor, lengths: Tensor) -> Tensor:
        """The vectors of all pieces: (texts, pieces, width), as `encode` in numpy."""
        state = self.embedding.norm(self.words[pieces] + self.positions[: pieces.shape[1]])  # type: ignore[operator]
        is_piece = torch.arange(pieces.shape[1]) < lengths[:, None]
        for layer in range(self.encoder_layers):
            state = getattr(self, f"layer{layer}")(state, is_piece[:, None, None, :])
        return cast(Tensor, state)

    def forward(self, vectors: Tensor, shapes: Tensor, is_word: Tensor) -> Tensor:
        """The states of all words, as `convolve` in numpy."""
        state = _gelu(self.input(self.dropout(vectors)) + self.shapes[shapes]) * is_word
        for layer, dilation in enumerate(DILATIONS):
            normal = self.dropout(getattr(self, f"norm{layer}")(state)) * is_word
            padded = functional.pad(normal, (0, 0, dilation, dilation))
            window = torch.cat([padded[shift : shift + len(state)] for shift in (0, dilation, 2 * dilation)], dim=1)
            state = state + _gelu(getattr(self, f"convolution{layer}")(window)) * is_word
        return state

    def span_scores(self, states: Tensor) -> Tensor:
        """The logit of each span by its first word and its length less one: (words, `MAX_MENTION`)."""
        last = functional.pad(self.span_end(states), (0, 0, 0, MAX_MENTION - 1)).unfold(0, MAX_MENTION, 1)
        return cast(Tensor, (self.span_start(states)[:, None] @ last)[:, 0] / math.sqrt(SPAN_WIDTH))


class _EncoderLayer(nn.Module):
    """Attention and two linear maps, each added to its input and normalised."""

    def __init__(self, attended: int, inner: int) -> None:
        super().__init__()
        for name in ("query", "key", "value"):
            self.add_module(name, nn.Linear(ENCODER_WIDTH, attended))
        self.output = nn.Linear(attended, ENCODER_WIDTH)
        self.up = nn.Linear(ENCODER_WIDTH, inner)
        self.down = nn.Linear(inner, ENCODER_WIDTH)
        self.norm1, self.norm2 = (nn.LayerNorm(ENCODER_WIDTH, eps=_EPSILON) for _ in range(2))
        self.dropout = nn.Dropout(_ENCODER_DROPOUT)

    def forward(self, state: Tensor, mask: Tensor) -> Tensor:
        texts, length, _ = state.shape
        query, key, value = (
            getattr(self, name)(state).reshape(texts, length, -1, HEAD_WIDTH).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        context = self.output(context.transpose(1, 2).reshape(texts, length, -1))
        state = self.norm1(state + self.dropout(context))
        return cast(Tensor, self.norm2(state + self.dropout(self.down(_gelu(self.up(state))))))


def _gelu(values: Tensor) -> Tensor:
    return functional.gelu(values, approximate="tanh")
