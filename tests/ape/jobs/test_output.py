"""Outputs are written atomically, and never replace files that the job did not write."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ape.errors import ApeError, Conflict, InputError
from ape.files.hashing import hash_input
from ape.jobs.job import JobRecipe
from ape.jobs.job_files import JobFiles, job_id
from ape.jobs.output import JobOutput, ParagraphNote, check_output_path, open_output, write_output
from ape.jobs.planning import open_files, plan_job
from ape.jobs.store import JobStore
from ape.jobs.untranslated_text import find_untranslated_text


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Limit the size of files of this process, so that writing fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def write(output: Path, *parts: Any) -> None:
    with open_output(output) as (_, file):
        for part in parts:
            file.write(part)
            file.flush()


def test_a_full_disk_leaves_what_was_there_and_no_rubbish(tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    output.write_bytes(b"as it was")
    with pytest.raises(ApeError, match="results are kept"), full_disk(100_000):
        write(output, bytes(200_000))
    assert output.read_bytes() == b"as it was"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_block_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    with pytest.raises(TypeError):
        write(output, b"half", "no bytes")
    assert list(tmp_path.iterdir()) == []


def test_an_output_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    with open_output(tmp_path / "out") as (_, file):
        file.write(b"x")
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_an_input_by_another_name_is_still_the_input(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("x")
    (tmp_path / "link.txt").symlink_to(book)
    with pytest.raises(InputError, match="input itself"):
        check_output_path(tmp_path / "link.txt", inputs=(book,), overwrite=True)


def test_what_this_job_wrote_may_be_written_again_unless_somebody_changed_it(tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    output.write_text("ours")
    ours = hash_input(output)
    check_output_path(output, inputs=(), known_hash=ours)
    output.write_text("and my corrections")
    with pytest.raises(Conflict, match="allow overwriting"):
        check_output_path(output, inputs=(), known_hash=ours)


@pytest.mark.parametrize("renamed", [False, True])
def test_a_kill_before_or_after_the_rename_leaves_a_job_that_goes_on(tmp_path: Path, renamed: bool) -> None:
    """The hash of the new file is stored before it takes its name, next to that of the old one."""
    mt, output = tmp_path / "mt.jsonl", tmp_path / "out.jsonl"
    mt.write_text('{"source": "Il dort.", "mt": "He sleep."}\n')
    with JobStore(str(tmp_path / "jobs.sqlite")) as store:
        opened = open_files(JobFiles(None, mt), source_language="fr", target_language="en")
        job = plan_job(store, opened, JobRecipe(), id="a" * 32, output=str(output)).job
        output.write_text("an earlier output")
        store.update(job.id, output_hash=hash_input(output))
        if renamed:
            write_output(store, job, output, record=True)
        else:
            with mock.patch.object(Path, "replace", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
                write_output(store, job, output, record=True)
        assert (output.read_text() == "an earlier output") is not renamed
        check_output_path(output, inputs=(mt,), known_hash=store.job(job.id).output_hash)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="Nothing can be written"):
        check_output_path(tmp_path / "out.txt", inputs=())


def test_the_outcome_of_a_job_is_kept_as_it_was(tmp_path: Path) -> None:
    made = JobOutput(tmp_path / "o", 3, 2, "ab", (ParagraphNote("p1", "…"),), 1, (ParagraphNote("p2", "…"),))
    assert JobOutput.from_json(made.to_json()) == made


def test_the_same_files_by_another_path_are_the_same_job(tmp_path: Path) -> None:
    here, around = tmp_path / "a.txt", tmp_path / "x" / ".." / "a.txt"
    out = tmp_path / "o.txt"
    assert job_id(JobFiles(None, here), out) == job_id(JobFiles(None, around), out)
    assert job_id(JobFiles(None, here), out) != job_id(JobFiles(here, here), out)


@pytest.mark.parametrize(
    ("source", "text", "languages", "found"),
    [
        ("Elle ferma la porte sans un mot.", "She closed the door without a word.", ("fr", "en"), False),
        ("Elle ferma la porte sans un mot.", "Elle ferma la porte sans un mot.", ("fr", "en"), True),
        (
            "Elle ferma la porte. Il faisait nuit et la pluie tombait encore.",
            "She closed the door. Il faisait nuit et la pluie tombait encore.",
            ("fr", "en"),
            True,
        ),
        ("她关上门,一句话也没说。", "She closed the door,一句话也没说。", ("zh", "en"), True),
        ("她关上门。", "She closed the door.", ("zh", "en"), False),
        ("Paris, 1843", "Paris, 1843", ("fr", "en"), False),
        ("Madame Bovary, Emma", "Madame Bovary, Emma", ("fr", "en"), False),
    ],
)
def test_source_text_in_a_finished_book_is_found(
    source: str, text: str, languages: tuple[str, str], found: bool
) -> None:
    assert (
        bool(find_untranslated_text(source, text, source_language=languages[0], target_language=languages[1])) == found
    )
