"""The encoder's layers are made smaller by leaving out what weighs least."""

from __future__ import annotations

import numpy as np

from eval.linguistics.literary.network import HEAD_WIDTH
from eval.linguistics.literary.training.encoder import KEPT_HEADS, KEPT_UNITS, smaller_layer

_WIDTH = 12 * HEAD_WIDTH
_UNITS = 4 * _WIDTH


def test_the_heaviest_heads_and_units_are_kept_with_their_own_weights() -> None:
    chance = np.random.default_rng(1)
    shapes = {
        **dict.fromkeys(("query", "key", "value", "output"), (_WIDTH, _WIDTH)),
        "up": (_UNITS, _WIDTH),
        "down": (_WIDTH, _UNITS),
    }
    weights = {f"layer0.{name}.weight": chance.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    weights |= {f"layer0.{name}.bias": np.arange(shape[0], dtype=np.float32) for name, shape in shapes.items()}
    weights["layer0.value.weight"][: KEPT_HEADS * HEAD_WIDTH] *= 10
    weights["layer0.up.weight"][-KEPT_UNITS:] *= 10
    kept = smaller_layer(weights, "layer0")
    for name in ("query", "key", "value"):
        assert kept[f"layer0.{name}.bias"].tolist() == list(range(KEPT_HEADS * HEAD_WIDTH))
    assert kept["layer0.up.bias"].tolist() == list(range(_UNITS - KEPT_UNITS, _UNITS))
    np.testing.assert_array_equal(kept["layer0.down.weight"], weights["layer0.down.weight"][:, -KEPT_UNITS:])
    np.testing.assert_array_equal(
        kept["layer0.output.weight"], weights["layer0.output.weight"][:, : KEPT_HEADS * HEAD_WIDTH]
    )
    assert "layer0.output.bias" not in kept  # it stays as it is
