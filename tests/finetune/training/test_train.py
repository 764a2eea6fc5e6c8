"""Invariants of training: the adapter does not depend on how a batch is divided or the run interrupted."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from ape.adapters import read_card
from ape.cli.main import main
from ape.errors import InputError, ModelError
from finetune.data.dataset import write_dataset
from finetune.training.config import TrainConfig
from finetune.training.encoding import BatchCollator, encode_example
from finetune.training.loss import plain_loss
from finetune.training.run_directory import TrainingRun, open_training_run
from finetune.training.train import TrainingResult, _arguments, add_adapter, train_adapter
from finetune.training.trainer import (
    ApeTrainer,
    DevEvaluation,
    SkippedCheckpoint,
    TrainingEvent,
    TrainingStart,
    TrainingStep,
)
from tests.finetune.conftest import Fit
from tests.finetune.toy_model import EXAMPLES, configured, furthest, make_model, weights

pytestmark = pytest.mark.torch

DROPOUT = {"rank": 4, "alpha": 8, "dropout": 0.2}


class Stop(Exception):
    """A simulated crash."""


def crash_at(step: int) -> Callable[[TrainingEvent], None]:
    def listen(event: TrainingEvent) -> None:
        if isinstance(event, TrainingStep) and event.step == step:
            raise Stop

    return listen


def adapter(directory: Path) -> bytes:
    return (directory / "adapter_model.safetensors").read_bytes()


def best(directory: Path) -> Any:
    training: Any = read_card(directory).training
    return training["best"]


def test_a_training_leaves_an_adapter_its_card_a_plot_and_no_checkpoints(undisturbed: TrainingResult) -> None:
    place = undisturbed.directory
    assert undisturbed.steps == 6  # 2 epochs of 2 and a half batches
    assert {one.name for one in place.iterdir()} == {
        "adapter_config.json",
        "adapter_model.safetensors",
        "ape.json",
        "history.json",
        "loss.png",
        "run.json",
        "tensorboard",
    }
    assert any((place / "tensorboard").rglob("events.out.tfevents.*"))
    assert read_card(place).languages == ("fr-en",)
    assert best(place)["step"] in (2, 4, 6)


def test_training_lowers_the_loss(undisturbed: TrainingResult) -> None:
    losses = [row["loss"] for row in undisturbed.history if "loss" in row]
    assert losses[-1] < losses[0] - 0.5


def test_the_same_seed_gives_the_same_adapter(fit: Fit, undisturbed: TrainingResult, tmp_path: Path) -> None:
    again = fit(tmp_path / "again").directory
    assert adapter(again) == adapter(undisturbed.directory)
    assert (again / "adapter_config.json").read_bytes() == (undisturbed.directory / "adapter_config.json").read_bytes()


@pytest.mark.parametrize("micro_batch", [8, 2])
def test_a_batch_of_8_is_its_parts_accumulated(
    fit: Fit, undisturbed: TrainingResult, tmp_path: Path, micro_batch: int
) -> None:
    other = fit(tmp_path / "other", configured(micro_batch=micro_batch))
    assert furthest(other.directory, undisturbed.directory) < 1e-5


def test_every_token_of_a_batch_counts_alike_in_long_parts_and_short(
    fit: Fit, base: Path, tokenizer: Any, tmp_path: Path
) -> None:
    """With one example per part, a mean of means would be another number."""
    from transformers import AutoModelForCausalLM

    trained = fit(tmp_path / "out", configured(batch=20, micro_batch=1, max_steps=1))
    model = AutoModelForCausalLM.from_pretrained(base)
    batch = BatchCollator(tokenizer.eos_token_id, 0.1)([encode_example(tokenizer, one) for one in EXAMPLES])
    with torch.no_grad():
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    total = plain_loss(logits, batch["labels"], batch["loss_weights"])
    assert trained.history[0]["loss"] == pytest.approx(float(total / batch["loss_weights"].sum()), rel=1e-5)


def in_another_process(work: Callable[[], object], talk: Path) -> int:
    """Fork this process, with all its imports, and run the work; its output goes to the file."""
    if pid := os.fork():
        return pid
    with talk.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)
    code = 70
    try:
        work()
        code = 0
    except SystemExit as left:
        code = int(str(left.code))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def ended(pid: int) -> int:
    """Exit code of the process, or the negative number of the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.subprocess
def test_two_processes_train_the_adapter_of_one_and_only_one_prints(
    base: Path, data: Path, undisturbed: TrainingResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment has the rank and the address of the first process, as torchrun sets them."""
    out, config = tmp_path / "out", tmp_path / "train.toml"
    config.write_text(
        "epochs = 2\nbatch = 8\nmicro_batch = 4\nlearning_rate = 0.01\n"
        "[lora]\nrank = 4\nalpha = 8\n[watch]\nevery = 2\nexamples = 2\npatience = 9\n"
    )
    flags = {"--config": config, "--base": base, "--data": data, "--out": out}
    typed = ["ape", "finetune", "train", *(str(word) for flag in flags.items() for word in flag)]
    monkeypatch.setattr(sys, "argv", typed)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    environment["OMP_NUM_THREADS"] = "1"  # as torchrun does; accelerate warns without it
    pids = []
    for rank in ("0", "1"):
        for name, value in (environment | {"RANK": rank, "LOCAL_RANK": rank}).items():
            monkeypatch.setenv(name, value)
        pids.append(in_another_process(main, tmp_path / rank))
    codes = [ended(pid) for pid in pids]
    first, second = ((tmp_path / rank).read_text() for rank in ("0", "1"))
    assert codes == [0, 0], first + second
    assert f"{out}\n" in first
    assert first.count("dev at step 2:") == first.count("Check it:") == 1
    assert second == ""
    assert furthest(out, undisturbed.directory) < 1e-5


@pytest.mark.subprocess
def test_a_killed_training_resumes_to_the_same_adapter(fit: Fit, tmp_path: Path) -> None:
    def listen(event: TrainingEvent) -> None:
        if isinstance(event, TrainingStep) and event.step == 5:
            os.kill(os.getpid(), signal.SIGKILL)

    config = configured(lora=DROPOUT)
    pid = in_another_process(lambda: fit(tmp_path / "out", config, listen), tmp_path / "talk")
    assert ended(pid) == -signal.SIGKILL
    events: list[TrainingEvent] = []
    resumed = fit(tmp_path / "out", config, events.append)
    assert (resumed.resumed_from, events[0]) == (4, TrainingStart(4, 6))
    whole = fit(tmp_path / "whole", config)
    assert adapter(resumed.directory) == adapter(whole.directory)
    assert resumed.steps == whole.steps == 6
    assert best(resumed.directory)["step"] > resumed.resumed_from  # otherwise the checkpoint itself would be saved


@pytest.mark.parametrize("step", [1, 3])
def test_an_interrupted_training_gives_the_same_adapter(
    fit: Fit, undisturbed: TrainingResult, tmp_path: Path, step: int
) -> None:
    """Interrupted before the first checkpoint, and in the first epoch."""
    with pytest.raises(Stop):
        fit(tmp_path / "out", listen=crash_at(step))
    resumed = fit(tmp_path / "out")
    assert resumed.resumed_from == step - step % 2
    assert best(resumed.directory)["step"] > resumed.resumed_from
    assert adapter(resumed.directory) == adapter(undisturbed.directory)


def test_a_damaged_checkpoint_is_skipped_for_the_one_before_it(
    fit: Fit, undisturbed: TrainingResult, tmp_path: Path
) -> None:
    with pytest.raises(Stop):
        fit(tmp_path / "out", listen=crash_at(5))
    (tmp_path / "out/checkpoints/checkpoint-4/adapter_model.safetensors").write_bytes(b"")
    events: list[TrainingEvent] = []
    resumed = fit(tmp_path / "out", listen=events.append)
    assert events[:2] == [SkippedCheckpoint(4, "adapter_model.safetensors"), TrainingStart(2, 6)]
    assert adapter(resumed.directory) == adapter(undisturbed.directory)


def test_a_training_that_had_ended_is_only_saved(
    fit: Fit, undisturbed: TrainingResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("finetune.training.train._save", lambda *_: (_ for _ in ()).throw(Stop))
        with pytest.raises(Stop):
            fit(tmp_path / "out")
    events: list[TrainingEvent] = []
    resumed = fit(tmp_path / "out", listen=events.append)
    assert events == [TrainingStart(6, 6)]
    assert resumed.steps == 6
    assert adapter(resumed.directory) == adapter(undisturbed.directory)


def test_it_stops_by_dev_scores_and_saves_the_best_checkpoint(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Post-edits are best at the second evaluation; the loss, which still falls, does not matter."""
    from finetune.training.dev_evaluation import TerGain

    after = iter((50.0, 40.0, 45.0, 60.0, 10.0))
    monkeypatch.setattr("finetune.training.trainer.measure_ter_gain", lambda *_: TerGain(30.0, next(after), 1.0))
    saved: dict[int, bytes] = {}

    def listen(event: TrainingEvent) -> None:
        if isinstance(event, TrainingStep) and event.step > 1:
            saved[event.step - 1] = adapter(tmp_path / f"out/checkpoints/checkpoint-{event.step - 1}")

    config = configured(epochs=9, watch={"every": 1, "examples": 2, "patience": 2})
    trained = fit(tmp_path / "out", config, listen)
    assert trained.steps == 4
    assert adapter(trained.directory) == saved[2] != saved[3]
    assert best(trained.directory) == {"step": 2, "ter_gain": -10.0}


def test_a_killed_training_that_had_stopped_early_does_not_continue(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(epochs=9, watch={"every": 1, "examples": 2, "patience": 1})
    with monkeypatch.context() as patch:
        patch.setattr("finetune.training.train._save", lambda *_: (_ for _ in ()).throw(Stop))
        with pytest.raises(Stop):
            fit(tmp_path / "out", config)
    saved = {one.name: adapter(one) for one in (tmp_path / "out/checkpoints").iterdir()}
    events: list[TrainingEvent] = []
    resumed = fit(tmp_path / "out", config, events.append)
    assert events == [TrainingStart(resumed.steps, resumed.steps)]
    assert resumed.steps == max(int(name.rpartition("-")[2]) for name in saved) < 27
    assert adapter(resumed.directory) == saved[f"checkpoint-{best(resumed.directory)['step']}"]


def test_without_dev_the_last_step_is_saved(base: Path, tmp_path: Path) -> None:
    write_dataset(tmp_path / "data", {"train": EXAMPLES}, {})
    events: list[TrainingEvent] = []
    trained = train_adapter(
        str(base), tmp_path / "data", tmp_path / "out", config=configured(max_steps=2), listen=events.append
    )
    assert trained.steps == 2
    assert not [event for event in events if isinstance(event, DevEvaluation)]


def test_bfloat16_trains_on_a_cpu(fit: Fit, tmp_path: Path) -> None:
    trained = fit(tmp_path / "out", configured(precision="bfloat16", max_steps=3))
    losses = [row["loss"] for row in trained.history if "loss" in row]
    assert losses[-1] < losses[0]
    assert {weight.dtype for weight in weights(trained.directory).values()} == {torch.float32}


@pytest.mark.parametrize("changes", [{"checkpointing": True}, {"chunk": 7}])
def test_saving_memory_does_not_change_the_adapter(
    fit: Fit, undisturbed: TrainingResult, tmp_path: Path, changes: dict[str, Any]
) -> None:
    assert furthest(fit(tmp_path / "out", configured(**changes)).directory, undisturbed.directory) < 1e-5


def test_layers_below_the_first_stay_as_they_are(fit: Fit, tmp_path: Path) -> None:
    shape = {"rank": 4, "first_layer": 1}
    names = weights(fit(tmp_path / "out", configured(lora=shape, max_steps=1)).directory)
    assert names
    assert all(".layers.1." in name for name in names)
    with pytest.raises(InputError, match=r"first_layer is 2, and the base has 2 layers"):
        fit(tmp_path / "none", configured(lora={"first_layer": 2}))


def test_max_steps_never_adds_steps(fit: Fit, tmp_path: Path) -> None:
    assert fit(tmp_path / "out", configured(epochs=1, max_steps=50)).steps == 3


def test_a_loss_of_nan_stops_training_before_the_step(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ApeTrainer.compute_loss

    def broken(self: ApeTrainer, *given: Any, **named: Any) -> Any:
        loss = real(self, *given, **named)
        return loss * float("nan") if self.state.global_step == 3 else loss

    monkeypatch.setattr(ApeTrainer, "compute_loss", broken)
    with pytest.raises(InputError, match=r"gradient of step 4 is nan.*lower learning_rate"):
        fit(tmp_path / "out")
    assert TrainingRun(tmp_path / "out").last_checkpoint() == tmp_path / "out/checkpoints/checkpoint-2"


def test_a_full_disk_leaves_the_previous_checkpoint_intact(
    fit: Fit, undisturbed: TrainingResult, tmp_path: Path
) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def listen(event: TrainingEvent) -> None:
        if isinstance(event, TrainingStep) and event.step == 4:
            resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, before[1]))

    try:
        with pytest.raises(InputError, match=r"The checkpoint of step 4 could not be written: .*Free some space"):
            fit(tmp_path / "out", listen=listen)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [one.name for one in (tmp_path / "out/checkpoints").iterdir()] == ["checkpoint-2"]
    resumed = fit(tmp_path / "out")
    assert best(resumed.directory)["step"] > resumed.resumed_from == 2
    assert adapter(resumed.directory) == adapter(undisturbed.directory)


@pytest.mark.parametrize(
    ("step", "said"), [(1, "There is no checkpoint yet"), (3, "it resumes from the checkpoint of step 2")]
)
def test_a_full_disk_between_checkpoints_is_a_clear_error(fit: Fit, tmp_path: Path, step: int, said: str) -> None:
    """The log fails first, in its own thread; a warning from there would fail the test."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def listen(event: TrainingEvent) -> None:
        if isinstance(event, TrainingStep) and event.step == step:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))

    try:
        with pytest.raises(InputError, match=rf"The log in .*/tensorboard could not be written: .*{said}"):
            fit(tmp_path / "out", listen=listen)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_base_without_an_end_token_is_refused(base: Path, data: Path, tmp_path: Path, tokenizer: Any) -> None:
    import json

    make_model(tokenizer).save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    path = tmp_path / "base/tokenizer_config.json"
    settings = json.loads(path.read_text())
    del settings["eos_token"]
    path.write_text(json.dumps(settings))
    with pytest.raises(InputError, match="has no end token"):
        train_adapter(str(tmp_path / "base"), data, tmp_path / "out", config=TrainConfig())


def test_an_example_that_the_base_can_not_read_is_refused(base: Path, tmp_path: Path) -> None:
    """The tiny base reads 512 tokens, and the training would accept 2,048."""
    long = replace(EXAMPLES[0], id="long", source=EXAMPLES[0].source * 200)
    write_dataset(tmp_path / "data", {"train": [*EXAMPLES, long]}, {})
    with pytest.raises(InputError, match=r"'long' is .* and the context of the base is 512\. .*at most 512 tokens"):
        train_adapter(str(base), tmp_path / "data", tmp_path / "out", config=configured(max_steps=1))
    write_dataset(tmp_path / "dev", {"train": EXAMPLES, "dev": [long]}, {})
    events: list[TrainingEvent] = []
    out, config = tmp_path / "other", configured(max_steps=1)
    train_adapter(str(base), tmp_path / "dev", out, config=config, listen=events.append)
    assert not [event for event in events if isinstance(event, DevEvaluation)]  # dev is whole, and this is passed over


def test_a_batch_that_the_processes_cannot_share_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(InputError, match="batch 8 is not divisible by 3 processes with micro_batch 4"):
        _arguments(open_training_run(tmp_path / "out", {}), configured(), 20, evaluate=False)


def test_sharding_options_reach_the_trainer(tmp_path: Path) -> None:
    config = configured(fsdp={"cpu_offload": True, "version": 2})
    arguments = _arguments(open_training_run(tmp_path / "out", {}), config, 20, evaluate=False)
    assert arguments.fsdp_plugin_args["fsdp_version"] == 2
    assert arguments.fsdp_plugin_args["cpu_offload"] is True
    assert not _arguments(open_training_run(tmp_path / "out", {}), configured(), 20, evaluate=False).fsdp


def test_sharding_without_a_gpu_is_refused(fit: Fit, tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(InputError, match="fsdp needs GPUs"):
        fit(tmp_path / "out", configured(fsdp={}))
    assert not (tmp_path / "out").exists()


def test_four_bits_without_a_gpu_are_refused(fit: Fit, tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(ModelError, match=r"QLoRA.*bitsandbytes"):
        fit(tmp_path / "out", configured(quantised=True))


def test_only_the_adapter_is_trained(base: Path) -> None:
    from finetune.base_model import load_base

    model = add_adapter(load_base(str(base)), configured())
    assert all("lora_" in name for name, weight in model.named_parameters() if weight.requires_grad)
