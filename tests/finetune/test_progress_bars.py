"""Progress bars of libraries are hidden while bases are unpacked, loaded and merged, and restored afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from transformers.utils import logging

from finetune.base_model import load_base
from finetune.export.merged_model import write_merged
from finetune.progress_bars import hide_progress_bars
from tests.finetune.export.toy_adapters import make_adapter, make_gguf, make_tiny

pytestmark = pytest.mark.torch

BARS: Any = logging


@pytest.fixture
def bars_enabled() -> Iterator[None]:
    """Enable progress bars, the default of transformers."""
    before = BARS.is_progress_bar_enabled()
    BARS.enable_progress_bar()
    yield
    if not before:
        BARS.disable_progress_bar()


@pytest.mark.usefixtures("bars_enabled")
def test_a_base_is_unpacked_loaded_and_merged_in_silence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with hide_progress_bars():
        base = make_tiny(tmp_path / "base")
        model = make_gguf(base, tmp_path / "base.gguf")
        adapter = make_adapter(tmp_path / "adapter", base)
    capfd.readouterr()
    load_base(str(model), cache=tmp_path / "cache")
    write_merged(adapter, str(base), tmp_path / "merged")
    assert capfd.readouterr().err == ""
    assert BARS.is_progress_bar_enabled()
