"""The Trainer of transformers, with our loss, our order of examples, and an eye on the task."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import gather_object
from transformers import (
    EarlyStoppingCallback,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from ape.errors import InputError
from finetune.batches import LengthGrouped
from finetune.config import TrainConfig
from finetune.encoding import encode
from finetune.run import WHOLE
from finetune.task import answer, gain


@dataclass(frozen=True, slots=True)
class Step:
    """A step was made."""

    step: int
    steps: int
    loss: float
    tokens_per_second: float
    seconds_left: float


@dataclass(frozen=True, slots=True)
class Look:
    """Dev was looked at: the loss, TER before and after, and the share of answers that stopped by themselves."""

    step: int
    loss: float
    before: float
    after: float
    stopped: float


Event = Step | Look


class ApeTrainer(Trainer):  # type: ignore[misc]  # transformers has no types
    """Trains on weighted tokens and looks at greedy post-edits of dev."""

    def prepare(self, config: TrainConfig, listen: Callable[[Event], None]) -> None:
        """Say how to train and whom to tell; once, before it begins."""
        self._config = config
        self._listen = listen
        self._tokens = 0
        self.loss_is_scaled_for_ga = True  # by the weight of the whole batch, in compute_loss
        self.remove_callback(PrinterCallback)
        self.add_callback(_Telling(self))
        if self.eval_dataset is not None:
            self.add_callback(EarlyStoppingCallback(config.watch.patience))

    def tell(self, event: Event) -> None:
        """Pass it on, from one process alone."""
        if self.is_world_process_zero():
            self._listen(event)

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        lengths = [len(one) for one in self.train_dataset]
        return LengthGrouped(lengths, self._config.batch, seed=self._config.seed)

    def _get_num_items_in_batch(self, batch_samples: list[Any], device: torch.device) -> Any:
        """The weight of a whole batch, over its parts and processes: what its loss is divided by."""
        weight = sum((part["loss_weights"].sum() for part in batch_samples), torch.zeros(())).to(device)
        return self.accelerator.gather(weight).sum() if self.args.world_size > 1 else weight

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """This part's share of the mean over the whole batch; processes are averaged later, hence the factor."""
        self._tokens += int(inputs["attention_mask"].sum())
        total = model(**inputs).loss
        return total / num_items_in_batch * self.accelerator.num_processes

    def evaluate(self, *_args: Any, **_named: Any) -> dict[str, float]:
        """Loss and greedy post-edits of dev; each process takes its share of them."""
        mine = list(self.eval_dataset)[self.args.process_index :: self.args.world_size]
        lost, weight = self._dev_loss(mine)
        answers = answer(self.model, self.processing_class, mine) if mine else []
        every = gather_object([(example, one) for example, one in zip(mine, answers, strict=True)])
        sums = gather_object([(lost, weight)])
        won = gain([example for example, _ in every], [one for _, one in every])
        loss = sum(part for part, _ in sums) / sum(part for _, part in sums)
        metrics = {"eval_loss": loss, "eval_ter_gain": won.ter, "eval_ter": won.after, "eval_stopped": won.stopped}
        self.tell(Look(self.state.global_step, loss, won.before, won.after, won.stopped))
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    @torch.no_grad()
    def _dev_loss(self, examples: Sequence[Any]) -> tuple[float, float]:
        """Its sum over the tokens of the answers, and their number: the prompts' are no measure of the task."""
        lost = weight = 0.0
        collator = self.data_collator.__class__(self.data_collator.padding, 0.0)
        encoded = sorted((encode(self.processing_class, one) for one in examples), key=len)
        self.model.eval()
        for start in range(0, len(encoded), self._config.micro_batch):
            batch = collator(encoded[start : start + self._config.micro_batch])
            weight += float(batch["loss_weights"].sum())
            lost += float(self.model(**self._prepare_inputs(batch)).loss)
        self.model.train()
        return lost, weight

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """As it is done, and then a mark that it was; a half that did not fit is taken away."""
        place = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
        try:
            super()._save_checkpoint(model, trial)
            if self.args.should_save:
                with (place / WHOLE).open("w") as mark:
                    os.fsync(mark.fileno())
        except Exception as error:
            shutil.rmtree(place, ignore_errors=True)
            full = _disk_full(error)
            if full is None:
                raise
            raise InputError(
                f"The checkpoint of step {self.state.global_step} could not be written: {full}. The ones before it are "
                "whole: make room, and the same command goes on from there."
            ) from error


def _disk_full(error: BaseException | None) -> str | None:
    """What the system said, where this or what led to it is a failure to write."""
    while error is not None:
        if isinstance(error, OSError) and error.strerror:
            return error.strerror
        if "No space left" in str(error) or "failed writing file" in str(error) or "file write failed" in str(error):
            return "no space left"
        error = error.__cause__ or error.__context__
    return None


class _Telling(TrainerCallback):  # type: ignore[misc]
    """Tells of every step, with the rate so far and the time that is left."""

    def __init__(self, trainer: ApeTrainer) -> None:
        self._trainer = trainer
        self._began = self._looked = 0.0
        self._first = 0

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        self._began, self._first = time.monotonic(), state.global_step

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **named: Any
    ) -> None:
        logs = named.get("logs") or {}
        if "loss" not in logs or state.global_step <= self._first:
            return
        passed = time.monotonic() - self._began
        done, left = state.global_step - self._first, state.max_steps - state.global_step
        rate = self._trainer._tokens * args.world_size / passed
        self._trainer.tell(Step(state.global_step, state.max_steps, logs["loss"], rate, passed / done * left))
