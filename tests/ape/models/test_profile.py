"""Profiles give models of the catalogue their prompt format and edit filter."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.engines.merged_model import apply_profile
from ape.engines.protocol import Model
from ape.errors import ModelError
from ape.models.profile import PROFILES, read_profile
from prompts import FORMATS


@pytest.mark.parametrize("name", [path.stem for path in PROFILES.glob("*.json")])
def test_a_shipped_profile_has_a_known_format_and_says_how_its_filter_was_made(name: str) -> None:
    profile = read_profile(name)
    assert profile is not None
    assert profile.format in FORMATS
    assert profile.edit_filter
    assert profile.edit_filter.fitted_on


def test_a_model_without_a_profile_is_left_as_it_is() -> None:
    assert read_profile("smollm2-135m") is None
    assert read_profile("../catalogue") is None
    assert apply_profile(Model("a"), None) == Model("a")


def test_format_filter_and_revision_come_from_the_profile(tmp_path: Path) -> None:
    (tmp_path / "tiny.json").write_text('{"format": "examples"}', encoding="utf-8")
    model = apply_profile(Model("tiny", revision="abc"), read_profile("tiny", tmp_path))
    assert model.format == "examples"
    assert model.revision.startswith("abc+")


def test_a_profile_with_an_unknown_field_is_refused(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text('{"colour": "red"}', encoding="utf-8")
    with pytest.raises(ModelError, match="colour"):
        read_profile("odd", tmp_path)
