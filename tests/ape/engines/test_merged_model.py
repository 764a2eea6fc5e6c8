"""Which directories hold a merged model, and what its card changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ape.adapters import AdapterCard, AdapterCardBase, write_card
from ape.engines import Model
from ape.engines.merged_model import apply_card, read_merged_card
from ape.errors import AdapterRefused
from prompts import SEP

TUNED = AdapterCard(base=AdapterCardBase(model="tiny"), prompt=SEP.fingerprint, languages=("fr-en",))


def put(folder: Path, *names: str, card: AdapterCard | None = TUNED) -> Path:
    for name in names:
        (folder / name).write_text("{}")
    if card:
        write_card(folder, card)
    return folder


def test_a_model_with_a_card_is_asked_as_the_card_says(tmp_path: Path) -> None:
    card = read_merged_card(put(tmp_path, "config.json"))
    assert card == TUNED
    assert apply_card(Model("m", 512), card) == Model("m", 512, "sep", languages=("fr-en",))


@pytest.mark.parametrize(
    ("names", "card"),
    [(["config.json"], None), (["adapter_config.json"], TUNED), (["config.json", "adapter_config.json"], TUNED)],
    ids=["a plain model", "an adapter", "an adapter in the directory of its base"],
)
def test_anything_else_is_asked_as_before(names: list[str], card: AdapterCard | None, tmp_path: Path) -> None:
    found = read_merged_card(put(tmp_path, *names, card=card))
    assert found is None
    assert apply_card(Model("m"), found) == Model("m")


def test_a_format_that_is_no_longer_ours_is_refused_with_the_model(tmp_path: Path) -> None:
    put(tmp_path, "config.json")
    (tmp_path / "ape.json").write_text(json.dumps({"base": {"model": "t"}, "prompt": "sep@000000000000"}))
    with pytest.raises(AdapterRefused, match=r"The merged model .* can't be served\. It was trained in"):
        read_merged_card(tmp_path)
