"""An adapter that can't be served is refused with the reason, before any server sees it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ape.adapters import (
    AdapterBase,
    list_adapters,
    locate_adapter,
    read_adapter,
    read_base,
    snapshot_adapter,
    write_card,
)
from ape.adapters.card import read_card
from ape.adapters.directory import read_rank
from ape.errors import AdapterRefused
from prompts import prompt_format
from tests.ape.adapters.making import lora, make_adapter, make_base, write_tensors

Spoil = Callable[[Path], object]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return make_base(tmp_path / "base")


def read(directory: Path, base: Path, *, max_rank: int | None = None) -> object:
    return read_adapter("mine", directory, base=read_base(str(base)), max_rank=max_rank)


@pytest.mark.parametrize("form", ["sep", "chat"])
def test_a_good_adapter_tells_how_it_is_to_be_asked(form: str, base: Path, tmp_path: Path) -> None:
    place = make_adapter(tmp_path / "a", base, form=form, rank=3)
    adapter = read_adapter("mine", place, base=read_base(str(base)), max_rank=8)
    assert (adapter.format, adapter.rank, adapter.card.prompt) == (form, 3, prompt_format(adapter.format).fingerprint)
    assert adapter.card.languages == ("fr-en",)


def change_card(directory: Path, **fields: object) -> None:
    path = directory / "ape.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def change_config(directory: Path, **fields: object) -> None:
    path = directory / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def change_weights(directory: Path, **tensors: object) -> None:
    write_tensors(directory / "adapter_model.safetensors", lora() | tensors)  # type: ignore[arg-type]


def cut(directory: Path, count: int) -> None:
    path = directory / "adapter_model.safetensors"
    os.truncate(path, path.stat().st_size + count if count < 0 else count)


def a_module(name: str) -> dict[str, object]:
    return {
        f"base_model.model.{name}.lora_A.weight": np.ones((2, 8), np.float32),
        f"base_model.model.{name}.lora_B.weight": np.ones((8, 2), np.float32),
    }


FIRST = "base_model.model.model.layers.0.self_attn.q_proj"
REASONS: dict[str, tuple[Spoil, str]] = {
    "no card": (lambda d: (d / "ape.json").unlink(), r"no ape\.json, so its prompt format is unknown"),
    "card is no JSON": (lambda d: (d / "ape.json").write_text("{"), r"ape\.json can't be read"),
    "card without a base": (lambda d: (d / "ape.json").write_text('{"prompt": "sep@0123456789ab"}'), "base"),
    "card of the future": (lambda d: change_card(d, version=2), "version"),
    "format unknown": (lambda d: change_card(d, prompt="xml@0123456789ab"), "not known here. There is: chat@"),
    "format changed": (lambda d: change_card(d, prompt="sep@0123456789ab"), "prompts would differ from those"),
    "another base": (
        lambda d: change_card(d, base={"model": "big/one", "fingerprint": "base@0000000000000000"}),
        "trained on big/one .* another model",
    ),
    "unidentifiable base": (lambda d: change_card(d, base={"model": "big/one"}), "no fingerprint"),
    "no configuration": (lambda d: (d / "adapter_config.json").unlink(), r"no adapter_config\.json"),
    "configuration is no JSON": (lambda d: (d / "adapter_config.json").write_text("r=2"), "is not JSON"),
    "not a LoRA": (lambda d: change_config(d, peft_type="IA3"), "'IA3', and only LoRA"),
    "DoRA": (lambda d: change_config(d, use_dora=True), "DoRA"),
    "saved modules": (lambda d: change_config(d, modules_to_save=["lm_head"]), "whole modules"),
    "biases": (lambda d: change_config(d, bias="all"), "biases"),
    "alpha is no number": (lambda d: change_config(d, lora_alpha="nan"), "no lora_alpha"),
    "no target": (lambda d: change_config(d, target_modules=None), "no target_modules"),
    "begun by PiSSA": (lambda d: change_config(d, init_lora_weights="pissa"), "changes the base too"),
    "configuration without an end": (lambda d: (d / "adapter_config.json").write_text("[" * 100_000), "is not JSON"),
    "card with NaN": (lambda d: (d / "ape.json").write_text('{"training": {"loss": NaN}}'), "NaN is not a number"),
    "no rank": (lambda d: change_config(d, r=None), "states no rank"),
    "rank is text": (lambda d: change_config(d, r="2"), "states no rank"),
    "rank differs": (lambda d: change_config(d, r=4), "states rank 4, and its weights have rank 2"),
    "no weights": (lambda d: (d / "adapter_model.safetensors").unlink(), "has no adapter_model"),
    "pickled weights": (
        lambda d: (d / "adapter_model.safetensors").rename(d / "adapter_model.bin"),
        "may run arbitrary code",
    ),
    "empty file": (lambda d: cut(d, 0), "no header"),
    "cut short": (lambda d: cut(d, -10), "bytes, and its header describes"),
    "cut in the header": (lambda d: cut(d, 40), "damaged"),
    "not safetensors": (lambda d: (d / "adapter_model.safetensors").write_text("hello, world"), "no header"),
    "not a number": (
        lambda d: change_weights(d, **{f"{FIRST}.lora_A.weight": np.full((2, 8), np.nan, np.float32)}),
        "values that are not numbers",
    ),
    "other tensors": (lambda d: change_weights(d, extra=np.ones(3, np.float32)), "'extra', and should hold only LoRA"),
    "half a pair": (
        lambda d: write_tensors(
            d / "adapter_model.safetensors", {f"{FIRST}.lora_A.weight": np.ones((2, 8), np.float32)}
        ),
        "one half of",
    ),
    "halves that do not fit": (
        lambda d: change_weights(d, **{f"{FIRST}.lora_B.weight": np.ones((8, 3), np.float32)}),
        "do not fit",
    ),
    "a layer too many": (
        lambda d: change_weights(d, **a_module("model.layers.7.self_attn.q_proj")),
        r"layers\.7.* does not have",
    ),
    "another shape": (
        lambda d: change_weights(d, **a_module("model.layers.0.mlp.down_proj")),
        r"\(8, 8\), and .* has \(8, 12\)",
    ),
}


@pytest.mark.parametrize("reason", REASONS)
def test_what_is_wrong_is_said(reason: str, base: Path, tmp_path: Path) -> None:
    spoil, sentence = REASONS[reason]
    place = make_adapter(tmp_path / "a", base)
    spoil(place)
    with pytest.raises(AdapterRefused, match=sentence):
        read(place, base)


def test_a_rank_that_the_server_has_no_room_for_is_refused(base: Path, tmp_path: Path) -> None:
    place = make_adapter(tmp_path / "a", base, rank=4)
    with pytest.raises(AdapterRefused, match=r"rank 4, .* up to 2.*--max-lora-rank 4"):
        read(place, base, max_rank=2)


@pytest.mark.parametrize("name", ["", "a b", "../x", "a/b", "-x", "x" * 65, "é"])
def test_a_name_is_plain(name: str, base: Path, tmp_path: Path) -> None:
    place = make_adapter(tmp_path / "a", base)
    with pytest.raises(AdapterRefused, match="not a valid adapter name"):
        read_adapter(name, place, base=read_base(str(base)))


def test_where_the_model_is_elsewhere_its_name_decides(base: Path, tmp_path: Path) -> None:
    place = make_adapter(tmp_path / "a", base)
    assert read_adapter("mine", place, base=AdapterBase("someone/tiny")).rank == 2
    with pytest.raises(AdapterRefused, match="files are not on this machine"):
        read_adapter("mine", place, base=AdapterBase("someone/other"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(where=st.floats(0, 1), byte=st.integers(0, 255))
def test_a_changed_byte_is_refused_or_harmless(base: Path, tmp_path: Path, where: float, byte: int) -> None:
    """Whatever is in the file, it is read as numbers or refused; nothing else is raised."""
    place = tmp_path / "a"
    if not place.exists():
        make_adapter(place, base)
    path = place / "adapter_model.safetensors"
    whole = path.read_bytes()
    spoilt = bytearray(whole)
    spoilt[int(where * (len(whole) - 1))] = byte
    path.write_bytes(spoilt)
    try:
        read(place, base)
    except AdapterRefused:
        pass
    finally:
        path.write_bytes(whole)


def test_only_the_given_folders_are_looked_into(base: Path, tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    make_adapter(root / "good", base)
    make_adapter(root / "deep" / "er", base)
    make_adapter(outside / "bad", base)
    (root / "link").symlink_to(outside / "bad")
    (root / "alias").symlink_to(root / "good")
    roots = [tmp_path / "none", root]
    assert (
        locate_adapter("good", roots)
        == locate_adapter(str(root / "good"), roots)
        == locate_adapter("alias", roots)
        == root / "good"
    )
    assert locate_adapter("deep/er", roots) == root / "deep" / "er"
    for given_name in ("../outside/bad", str(outside / "bad"), "link", "nowhere", "good\x00", "/", "x" * 300):
        with pytest.raises(AdapterRefused, match="no adapter directory"):
            locate_adapter(given_name, roots)
    with pytest.raises(AdapterRefused, match="Set `adapter_dirs`"):
        locate_adapter("good", [])


def test_a_file_that_is_a_link_to_elsewhere_is_refused(base: Path, tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    make_adapter(root / "a", base)
    make_adapter(outside, base)
    weights = root / "a" / "adapter_model.safetensors"
    weights.unlink()
    weights.symlink_to(outside / "adapter_model.safetensors")
    with pytest.raises(AdapterRefused, match="link to a file outside"):
        locate_adapter("a", [root])


def test_a_copy_is_named_by_its_content_and_outlives_the_original(base: Path, tmp_path: Path) -> None:
    place = make_adapter(tmp_path / "a", base)
    copies = tmp_path / "copies"
    first = snapshot_adapter(place, copies)
    assert snapshot_adapter(place, copies) == first
    before = read_adapter("mine", first, base=read_base(str(base)))
    write_tensors(place / "adapter_model.safetensors", lora(seed=2))
    second = snapshot_adapter(place, copies)
    assert second != first
    assert read_adapter("mine", first, base=read_base(str(base))) == before
    assert sorted(copies.iterdir()) == sorted([first, second])


def test_the_adapters_of_a_folder_and_their_ranks(base: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    made = [make_adapter(root / name, base, rank=rank) for name, rank in (("b", 4), ("a", 2))]
    (root / "notes").mkdir()
    (root / "file").touch()
    assert list(list_adapters([root, tmp_path / "none"])) == sorted(made)
    assert [read_rank(place) for place in list_adapters([root])] == [2, 4]


def test_a_rank_by_module_counts_too(base: Path, tmp_path: Path) -> None:
    place = make_adapter(tmp_path / "a", base, config={"rank_pattern": {"q_proj": 32}})
    assert read_rank(place) == 32


def test_a_card_comes_back_as_it_was_written(base: Path, tmp_path: Path) -> None:
    place = make_adapter(tmp_path / "a", base)
    card = read_card(place)
    write_card(place, card)
    assert read_card(place) == card
