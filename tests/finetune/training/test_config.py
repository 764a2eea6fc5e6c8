"""The configuration of a training."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.errors import InputError
from finetune.training.config import TrainConfig, read_train_config


def test_without_a_file_it_is_as_par3_did_it() -> None:
    config = read_train_config(None)
    assert (config.epochs, config.batch, config.prompt_weight) == (2.0, 32, 0.1)


def test_a_file_says_what_is_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "train.toml"
    path.write_text('batch = 16\nprompt_weight = 0\n[lora]\nrank = 8\nmodules = ["q_proj"]\n[fsdp]\nversion = 2\n')
    config = read_train_config(path)
    assert (config.batch, config.micro_batch, config.prompt_weight) == (16, 4, 0.0)
    assert (config.lora.rank, config.lora.modules) == (8, ("q_proj",))
    assert config.fsdp == {"version": 2}


def test_a_configuration_comes_back_from_its_card() -> None:
    config = TrainConfig(lora={"modules": ["q_proj", "v_proj"]})
    assert TrainConfig.model_validate(config.model_dump(mode="json")) == config


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("batch = 6", "micro_batch 4 does not divide batch 6"),
        ("bach = 8", "bach: there is no such field"),
        ("[lora]\nrank = 0", r"lora\.rank: at least 1"),
        ("prompt_weight = 2", "prompt_weight: at most 1"),
        ("batch =", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "train.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_train_config(path)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml can't be read: No such file"):
        read_train_config(tmp_path / "none.toml")
