"""Watching a folder that another process fills and clears."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ape.models import progress
from ape.models.progress import DownloadProgress, watch_folder


def test_the_bytes_of_all_the_files_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 0.001)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "one").write_bytes(bytes(10))
    (tmp_path / "a" / "b" / "two").write_bytes(bytes(5))
    counted = threading.Event()
    steps: list[DownloadProgress] = []

    def tell(step: DownloadProgress) -> None:
        steps.append(step)
        if len(steps) > 1:
            counted.set()

    with watch_folder(tmp_path, "Fetching", total=20, progress=tell):
        assert counted.wait(30)

    assert steps[:2] == [DownloadProgress("Fetching", 0, 20), DownloadProgress("Fetching", 15, 20)]


def test_folders_that_go_while_they_are_counted_do_not_end_the_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 0.0005)
    reports = threading.Semaphore(0)
    with watch_folder(tmp_path, "Fetching", total=None, progress=lambda _: reports.release()):
        for turn in range(3000):
            folder = tmp_path / f"unpack-{turn % 4}"
            folder.mkdir()
            (folder / "file").write_bytes(bytes(4))
            (folder / "file").unlink()
            folder.rmdir()
        while reports.acquire(blocking=False):
            pass
        assert reports.acquire(timeout=300), "no more reports"
