"""The directory of a training: created, resumed, or refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ape.adapters import CARD_FILE
from ape.errors import InputError
from finetune.training.run_directory import (
    RUN_FILE,
    TrainingRun,
    explain_write_errors,
    mark_complete,
    open_training_run,
)

SETTINGS = {"base": "b", "config": {"batch": 8, "lora": {"rank": 4}}}


def checkpoint(run: TrainingRun, step: int, *, whole: bool = True, end: bool = False, best: int | None = None) -> Path:
    place = run.checkpoints / f"checkpoint-{step}"
    place.mkdir(parents=True)
    (place / "weights").write_bytes(bytes([step]))
    (place / "trainer_state.json").write_text(json.dumps({"best_global_step": best}))
    if whole:
        mark_complete(place, end=end)
    return place


@pytest.mark.parametrize("there", [True, False])
def test_a_new_or_empty_directory_is_begun_in(tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "out").mkdir()
    run = open_training_run(tmp_path / "out", SETTINGS)
    assert [one.name for one in run.directory.iterdir()] == [RUN_FILE]
    assert run.last_checkpoint() is None


def test_the_same_again_goes_on(tmp_path: Path) -> None:
    checkpoint(open_training_run(tmp_path, SETTINGS), 10)
    last = open_training_run(tmp_path, SETTINGS).last_checkpoint()
    assert last == tmp_path / "checkpoints/checkpoint-10"


def test_a_process_that_began_a_moment_before_is_no_stranger(tmp_path: Path) -> None:
    (tmp_path / f"{RUN_FILE}.4711").write_text("half of it")
    assert open_training_run(tmp_path, SETTINGS).directory == tmp_path


def test_a_checkpoint_that_was_cut_short_is_passed_over(tmp_path: Path) -> None:
    run = open_training_run(tmp_path, SETTINGS)
    checkpoint(run, 9)
    checkpoint(run, 10)
    checkpoint(run, 100, whole=False)
    assert run.last_checkpoint() == run.checkpoints / "checkpoint-10"


@pytest.mark.parametrize(
    "spoil", [lambda file: file.write_bytes(b""), lambda file: file.write_bytes(b"?"), Path.unlink]
)
def test_a_checkpoint_that_was_damaged_later_is_passed_over_and_told(
    tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    run, damaged = open_training_run(tmp_path, SETTINGS), []
    before, after = checkpoint(run, 9), checkpoint(run, 10)
    spoil(after / "weights")
    assert run.last_checkpoint(lambda *one: damaged.append(one)) == before
    assert damaged == [(after, "weights")]


def test_a_checkpoint_is_as_good_as_the_best_that_it_names(tmp_path: Path) -> None:
    run, damaged = open_training_run(tmp_path, SETTINGS), []
    first, best = checkpoint(run, 1, best=1), checkpoint(run, 2, best=2)
    last = checkpoint(run, 3, best=2)
    assert run.last_checkpoint() == last
    (best / "weights").unlink()
    assert run.last_checkpoint(lambda *one: damaged.append(one)) == first
    assert damaged == [(last, "checkpoint-2/weights"), (best, "weights")]


def test_what_is_marked_is_on_the_disk_before_its_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda opened: synced.append(Path(f"/proc/self/fd/{opened}").readlink().name))
    checkpoint(open_training_run(tmp_path, SETTINGS), 5)
    assert synced[2].startswith(".ape-")  # the mark, before it is renamed to its name
    assert [*synced[:2], *synced[3:]] == ["trainer_state.json", "weights", "checkpoint-5", "checkpoints"]


def test_a_checkpoint_knows_whether_it_was_the_last(tmp_path: Path) -> None:
    run = open_training_run(tmp_path, SETTINGS)
    assert not run.ended_at(checkpoint(run, 1))
    assert run.ended_at(checkpoint(run, 2, end=True))


def test_other_settings_are_taken_as_long_as_nothing_was_learned(tmp_path: Path) -> None:
    open_training_run(tmp_path, SETTINGS)
    checkpoint(open_training_run(tmp_path, {**SETTINGS, "base": "another"}), 5)
    with pytest.raises(InputError, match=r"another base \('another' then, 'b' now\)"):
        open_training_run(tmp_path, SETTINGS)


def test_two_do_not_train_in_one_directory(tmp_path: Path) -> None:
    run = open_training_run(tmp_path, SETTINGS)
    with run.locked_directory(), pytest.raises(InputError, match="Another process is training"), run.locked_directory():
        pass
    with run.locked_directory():
        pass


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    checkpoint(open_training_run(tmp_path, SETTINGS), 5)
    with pytest.raises(InputError, match=r"another config\.lora\.rank \(4 then, 8 now\)"):
        open_training_run(tmp_path, {"base": "b", "config": {"batch": 8, "lora": {"rank": 8}}})


def test_a_finished_adapter_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / CARD_FILE).write_text("{}")
    with pytest.raises(InputError, match="holds a finished adapter"):
        open_training_run(tmp_path, SETTINGS)


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("Dear Anna")
    with pytest.raises(InputError, match="exists and is not a training run"):
        open_training_run(tmp_path, SETTINGS)
    assert [one.name for one in tmp_path.iterdir()] == ["letters.txt"]


def test_a_file_in_its_place_is_said(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(InputError, match=r"out can't be used: .*"):
        open_training_run(tmp_path / "out", SETTINGS)


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        RuntimeError("[enforce fail] PytorchStreamWriter failed writing file data/0: file write failed"),
        ValueError("I/O error: No space left on device (os error 28)"),
    ],
)
def test_a_full_disk_is_one_sentence_whichever_library_found_it(error: Exception, tmp_path: Path) -> None:
    run = open_training_run(tmp_path, SETTINGS)
    said = r"The checkpoint could not be written: [Nn]o space left.*\. There is no checkpoint yet. Free some space"
    with pytest.raises(InputError, match=said), explain_write_errors("The checkpoint", run):
        raise error
    checkpoint(run, 5)
    with pytest.raises(InputError, match="it resumes from the checkpoint of step 5"), explain_write_errors("It", run):
        raise error


@pytest.mark.parametrize(
    "error", [ZeroDivisionError(), ConnectionResetError(104, "by peer"), InputError("Said already.")]
)
def test_what_is_no_full_disk_stays_as_it_is(error: Exception, tmp_path: Path) -> None:
    with pytest.raises(type(error)) as caught, explain_write_errors("The checkpoint", TrainingRun(tmp_path)):
        raise error from OSError(28, "No space left on device") if isinstance(error, InputError) else None
    assert caught.value is error
