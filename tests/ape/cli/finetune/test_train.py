"""`ape finetune train` as typed."""

from __future__ import annotations

import json
import shutil
import signal
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.ape.cli.conftest import Run

pytestmark = pytest.mark.torch

CONFIG = """
epochs = 200
batch = 8
max_steps = {steps}
[lora]
rank = 4
[watch]
every = 2
examples = 1
patience = 900
"""


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base model and a training set."""
    pytest.importorskip("peft")
    from tests.finetune.toy_model import write_base, write_data

    folder = tmp_path_factory.mktemp("finetune")
    write_base(folder / "base")
    write_data(folder / "data")
    return folder


def words(place: Path, out: Path, *, steps: int) -> list[str]:
    config = out.with_suffix(".toml")
    config.write_text(CONFIG.format(steps=steps))
    flags = {"--config": config, "--base": place / "base", "--data": place / "data", "--output": out}
    return ["finetune", "train", *(str(word) for pair in flags.items() for word in pair)]


@pytest.mark.subprocess
def test_progress_and_next_commands_are_printed(
    here: Run, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("ape.cli.finetune.train"), "QUIET_SECONDS", 3600.0)
    out = tmp_path / "adapter"
    done = here(*words(place, out, steps=3), "--json")
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert (output["adapter"], output["steps"], output["resumed_from"]) == (str(out), 3, 0)
    assert [look["step"] for look in output["looks"]] == [2, 3]
    assert Path(output["plot"]).is_file()
    assert "dev at step 2: TER " in done.stderr
    assert done.stderr.count("tokens/s") == 1  # only the last step is printed without a terminal
    assert f"ape finetune check {out}" in done.stderr
    assert "ape finetune export" in done.stderr
    again = here(*words(place, out, steps=3))
    assert (again.returncode, again.stdout) == (2, "")
    assert "holds a finished adapter" in again.stderr


def test_ctrl_c_stops_the_training_and_the_same_command_resumes(
    here: Run, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C during the second evaluation on dev, before the second checkpoint."""
    from finetune.training import dev_evaluation

    typed = words(place, tmp_path / "adapter", steps=5)
    looks, real = count(1), dev_evaluation.measure_ter_gain

    def interrupted(*given: Any) -> Any:
        if next(looks) == 2:
            signal.raise_signal(signal.SIGINT)
        return real(*given)

    monkeypatch.setattr("finetune.training.trainer.measure_ter_gain", interrupted)
    stopped = here(*typed)
    assert (stopped.returncode, stopped.stdout) == (130, "")
    assert "Stopped. The same command resumes from step 2, its last checkpoint." in stopped.stderr
    copy = shutil.copytree(tmp_path / "adapter", tmp_path / "spoilt")
    done = here(*typed)
    assert done.returncode == 0, done.stderr
    assert "Resuming from the checkpoint of step 2 of 5." in done.stderr
    (copy / "checkpoints/checkpoint-2/optimizer.pt").write_bytes(b"")
    anew = here(*words(place, copy, steps=5))
    assert anew.returncode == 0, anew.stderr
    assert "The checkpoint of step 2 is skipped: optimizer.pt is damaged." in anew.stderr
    assert "There is no other checkpoint; training starts again from the beginning." in anew.stderr


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("--data", "nowhere", "holds no examples"),
        ("--base", "nobody", "There is no base model nobody"),
        ("--config", "none.toml", "can't be read"),
    ],
)
def test_missing_inputs_are_one_sentence(
    here: Run, place: Path, tmp_path: Path, flag: str, value: str, message: str
) -> None:
    typed = words(place, tmp_path / "adapter", steps=3)
    typed[typed.index(flag) + 1] = value
    done = here(*typed)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
