"""A base model is identified by its weights, not by its name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ape.adapters import read_base
from ape.errors import ModelError
from tests.ape.adapters.making import CONFIG, make_base, weights, write_tensors


def print_of(directory: Path) -> str:
    fingerprint = read_base(str(directory)).fingerprint
    assert fingerprint
    return fingerprint


def test_the_same_weights_are_the_same_model_in_any_precision_and_any_number_of_files(tmp_path: Path) -> None:
    whole = make_base(tmp_path / "whole")
    expected = print_of(whole)
    for name, kind in (("half", np.float16), ("brain", np.uint16)):
        place = make_base(tmp_path / name)
        tensors = {
            key: (value.view(np.uint32) >> 16).astype(np.uint16) if kind is np.uint16 else value.astype(kind)
            for key, value in weights().items()
        }
        items = list(tensors.items())
        (place / "model.safetensors").unlink()
        write_tensors(place / "model-00001-of-00002.safetensors", dict(items[:3]))
        write_tensors(place / "model-00002-of-00002.safetensors", dict(items[3:]))
        (place / "config.json").write_text(json.dumps(CONFIG | {"dtype": name, "transformers_version": "9"}))
        assert print_of(place) == expected, name


def test_rounding_to_bfloat16_is_to_the_nearest_even(tmp_path: Path) -> None:
    values = weights()
    near = {name: value + np.float32(1e-5) * np.sign(value) for name, value in values.items()}
    place, other = make_base(tmp_path / "a"), make_base(tmp_path / "b")
    write_tensors(other / "model.safetensors", near)
    assert print_of(place) == print_of(other)


def test_other_weights_or_another_shape_are_another_model(tmp_path: Path) -> None:
    prints = {
        print_of(make_base(tmp_path / "a")),
        print_of(make_base(tmp_path / "b", seed=2)),
        print_of(make_base(tmp_path / "c", config={"num_attention_heads": 4})),
    }
    assert len(prints) == 3


def test_where_linear_layers_are_quantised_the_print_stays_and_shapes_are_not_judged(tmp_path: Path) -> None:
    plain = make_base(tmp_path / "plain")
    quantised = make_base(tmp_path / "quantised", config={"quantization_config": {"quant_method": "awq"}})
    assert print_of(plain) == print_of(quantised)
    assert read_base(str(plain)).dimensions
    assert read_base(str(quantised)).dimensions is None


def test_a_model_that_is_not_here_is_only_a_name() -> None:
    base = read_base("someone/not-pulled-here")
    assert (base.name, base.fingerprint, base.dimensions) == ("someone/not-pulled-here", None, None)


@pytest.mark.parametrize("spoil", ["config", "weights"])
def test_a_directory_that_is_no_model_is_one_sentence(spoil: str, tmp_path: Path) -> None:
    place = make_base(tmp_path / "a")
    (place / {"config": "config.json", "weights": "model.safetensors"}[spoil]).write_text("{")
    with pytest.raises(ModelError, match="can't be read as a model"):
        read_base(str(place))
