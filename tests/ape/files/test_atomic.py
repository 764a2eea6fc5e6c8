"""Atomic writes: complete or absent, with the right permissions, and nothing left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ape.errors import InputError
from ape.files.atomic import (
    atomic_path,
    draft_path,
    explain_write_errors,
    refuse_existing_path,
    remove_stale_drafts,
    write_text_atomic,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_at_the_end_of_the_block(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    with atomic_path(path, sync=True) as draft:
        draft.write_text("new")
        assert draft.suffix == ".txt"
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["out.txt"]


def fail(path: Path, *, folder: bool) -> None:
    with atomic_path(path) as draft:
        if folder:
            draft.mkdir()
            (draft / "half").touch()
        else:
            draft.touch()
        raise ZeroDivisionError


@pytest.mark.parametrize("folder", [False, True])
def test_a_block_that_fails_leaves_what_was_there_and_no_draft(tmp_path: Path, folder: bool) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError):
        fail(path, folder=folder)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_a_new_file_has_the_permissions_of_the_umask_and_a_replaced_one_those_it_had(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    path = tmp_path / "out"
    write_text_atomic(path, "x")
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
    path.chmod(0o600)
    write_text_atomic(path, "y")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_folder_takes_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "set"
    for name in ("one", "two"):
        with atomic_path(path, sync=True) as draft:
            draft.mkdir()
            (draft / name).touch()
    assert names(path) == ["two"]
    assert names(tmp_path) == ["set"]


def test_a_file_never_replaces_a_folder(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_text_atomic(tmp_path / "set", "x")
    assert (tmp_path / "set").is_dir()


def test_a_text_is_written_as_it_is_and_in_parts(tmp_path: Path) -> None:
    write_text_atomic(tmp_path / "a", ["one\r\n", "two\n"])
    assert (tmp_path / "a").read_bytes() == b"one\r\ntwo\n"
    write_text_atomic(tmp_path / "a", "\ud83d!", errors="replace")
    assert (tmp_path / "a").read_bytes() == b"?!"


def test_a_disk_error_stays_an_os_error_until_it_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "out"
    with pytest.raises(FileNotFoundError):
        write_text_atomic(path, "x")
    with (
        pytest.raises(InputError, match=r"nowhere/out can't be written: No such file or directory\. Make it\.$"),
        explain_write_errors(path, remedy="Make it."),
    ):
        write_text_atomic(path, "x")


def test_a_dangling_link_is_an_existing_path(tmp_path: Path) -> None:
    refuse_existing_path(tmp_path / "free")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(InputError, match="is there already"):
        refuse_existing_path(tmp_path / "link")


def test_drafts_of_killed_processes_are_removed_and_those_of_others_stay(tmp_path: Path) -> None:
    ours = draft_path(tmp_path / "book.epub")
    ended = ours.with_name(ours.name.replace(f"-{os.getpid()}-", f"-{2**22 + 1}-"))  # above the highest process number
    elsewhere = tmp_path / ".ape-00000000-1-00.epub"
    for path in (ours, ended, elsewhere):
        path.write_text("half")
    remove_stale_drafts(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {ours.name, elsewhere.name}
