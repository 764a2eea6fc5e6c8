"""A model file that was changed after its download is noticed when it is loaded."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from ape.errors import ModelError
from ape.models import pull_model, verify_model
from ape.models.file_record import read_record, record_path
from ape.models.store import require_unchanged
from tests.ape.models.conftest import CONTENT, TINY, make_wheel


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    return pull_model(TINY, cache=tmp_path, source=str(make_wheel(tmp_path)))


def test_an_unchanged_file_is_not_read_again(model_file: Path, tmp_path: Path) -> None:
    steps: list[object] = []
    assert require_unchanged(TINY, cache=tmp_path, progress=steps.append) == model_file
    assert steps == []


def test_a_file_changed_after_its_download_is_refused(model_file: Path, tmp_path: Path) -> None:
    model_file.write_bytes(CONTENT[:-1] + b"!")
    with pytest.raises(ModelError, match=r"was changed after its download, so it is not used. .* Pull the model again"):
        require_unchanged(TINY, cache=tmp_path)


def test_a_file_with_a_new_time_and_the_same_content_is_recorded_again(model_file: Path, tmp_path: Path) -> None:
    os.utime(model_file, (1, 1))
    steps: list[object] = []
    require_unchanged(TINY, cache=tmp_path, progress=steps.append)
    assert steps
    steps.clear()
    require_unchanged(TINY, cache=tmp_path, progress=steps.append)
    assert steps == []


def test_a_model_outside_the_catalogue_is_compared_with_its_record(model_file: Path, tmp_path: Path) -> None:
    unknown = replace(TINY, size=None, sha256=None)
    require_unchanged(unknown, cache=tmp_path)
    model_file.write_bytes(CONTENT[:-1] + b"!")
    for check in (require_unchanged, verify_model):
        with pytest.raises(ModelError, match=r"its SHA-256 is"):
            check(unknown, cache=tmp_path)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"size": 1}'])
def test_a_damaged_record_only_costs_a_full_check(damage: str, model_file: Path, tmp_path: Path) -> None:
    record_path(model_file).write_text(damage)
    assert read_record(model_file) is None
    require_unchanged(TINY, cache=tmp_path)
    assert read_record(model_file) is not None
