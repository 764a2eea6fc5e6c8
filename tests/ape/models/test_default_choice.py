"""The default model by the memory and the disk of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.models import default_choice
from ape.models.default_choice import DefaultChoice, choose_default, read_meminfo


def test_a_machine_with_2_gb_gets_the_small_model_and_is_told_what_is_lost(tmp_path: Path) -> None:
    chosen = choose_default(cache=tmp_path, memory=2_000_000_000, tuned=tmp_path)
    assert chosen.model == "smollm2-135m-ape"
    assert chosen.notice == (
        "qwen2.5-coder-1.5b is not used here: it needs 3.0 GB of memory, and 2.0 GB are available. The small model"
        " smollm2-135m-ape leaves most faults of a translation as they are. Set `model` to qwen2.5-coder-1.5b to use it"
        " all the same."
    )


def test_a_machine_with_memory_and_disk_gets_the_large_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(default_choice, "_free_disk", lambda folder: 2_000_000_000)
    assert choose_default(cache=tmp_path, memory=4_000_000_000, may_download=True) == DefaultChoice(
        "qwen2.5-coder-1.5b"
    )


def test_a_machine_without_disk_gets_the_small_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(default_choice, "_free_disk", lambda folder: 900_000_000)
    chosen = choose_default(cache=tmp_path / "new", memory=4_000_000_000, tuned=tmp_path / "none", may_download=True)
    assert chosen.model == "smollm2-135m"
    assert "it needs 1.2 GB of disk in" in str(chosen.notice)


def test_the_available_memory_is_read_from_the_kernel(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal:        2048000 kB\nMemAvailable:    1000000 kB\n")
    assert list(read_meminfo(tmp_path / "meminfo")) == [1_024_000_000]
    assert list(read_meminfo(tmp_path / "missing")) == []


def test_nothing_large_is_downloaded_unasked(tmp_path: Path) -> None:
    chosen = choose_default(cache=tmp_path, memory=8_000_000_000, tuned=tmp_path)
    assert chosen.model == "smollm2-135m-ape"
    assert "is not downloaded yet" in str(chosen.notice)
