"""The Trainer of transformers, with our loss, our order of examples, and an eye on the task."""

from __future__ import annotations

import math
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
from transformers.trainer import TRAINER_STATE_NAME

from ape.errors import InputError
from finetune.data.example import Example
from finetune.training.batches import LengthGroupedSampler
from finetune.training.config import TrainConfig
from finetune.training.dev_evaluation import generate_greedy, measure_ter_gain
from finetune.training.encoding import BatchCollator, EncodedExample, encode_example
from finetune.training.run_directory import TrainingRun, explain_write_errors, mark_complete


@dataclass(frozen=True, slots=True)
class SkippedCheckpoint:
    """A checkpoint that can't be gone on from, because this file is not as it was written."""

    step: int
    file: str


@dataclass(frozen=True, slots=True)
class TrainingStart:
    """The training begins after this step: 0, or that of the checkpoint it goes on from."""

    step: int
    steps: int


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """A step was made."""

    step: int
    steps: int
    loss: float
    tokens_per_second: float
    seconds_left: float


@dataclass(frozen=True, slots=True)
class DevEvaluation:
    """Dev was looked at: the loss, TER before and after, and the share of answers that stopped by themselves."""

    step: int
    loss: float
    before: float
    after: float
    stopped: float


TrainingEvent = SkippedCheckpoint | TrainingStart | TrainingStep | DevEvaluation


class ApeTrainer(Trainer):
    """Trains on weighted tokens and looks at greedy post-edits of dev."""

    def prepare(
        self,
        config: TrainConfig,
        examples: Sequence[EncodedExample],
        dev: Sequence[Example],
        listen: Callable[[TrainingEvent], None],
    ) -> None:
        """Say how to train and whom to tell; once, before it begins."""
        self.order = LengthGroupedSampler([len(one) for one in examples], config.batch, seed=config.seed)
        self._config = config
        self._dev = dev
        self._tokenizer: Any = self.processing_class
        self._listen = listen
        self.tokens_seen = 0
        self.seconds_looked = 0.0
        self.loss_is_scaled_for_ga = True  # by the weight of the whole batch, in compute_loss
        self.remove_callback(PrinterCallback)
        self.add_callback(_EventCallback(self))
        if dev:
            self.add_callback(EarlyStoppingCallback(config.watch.patience))

    def tell(self, event: TrainingEvent) -> None:
        """Pass it on, from one process alone."""
        if self.is_world_process_zero():
            self._listen(event)

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        return self.order

    def _get_num_items_in_batch(self, batch_samples: list[Any], device: torch.device) -> Any:
        """The weight of a whole batch, over its parts and processes: what its loss is divided by."""
        weight = sum((part["loss_weights"].sum() for part in batch_samples), torch.zeros(())).to(device)
        return self.accelerator.gather(weight).sum() if self.args.world_size > 1 else weight

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """This part's share of the mean over the whole batch; processes are averaged later, hence the factor."""
        self.tokens_seen += int(inputs["attention_mask"].sum())
        total = model(**inputs).loss
        return total / num_items_in_batch * self.accelerator.num_processes

    def _clip_grad_norm(self, model: Any) -> Any:
        """A gradient that is no number stops it before a step is made with it: no checkpoint holds garbage."""
        norm = super()._clip_grad_norm(model)  # type: ignore[no-untyped-call]
        if math.isfinite(float(norm)):
            return norm
        raise InputError(
            f"The gradient of step {self.state.global_step + 1} is {float(norm)}: the training has gone astray. Begin "
            "anew with another --out and a lower learning_rate, or a longer warmup."
        )

    def evaluate(self, *_args: Any, **_named: Any) -> dict[str, float]:
        """Loss and greedy post-edits of dev; each process takes its share of them."""
        began = time.monotonic()
        # The parts of a sharded model have to be asked the same thing at the same time.
        share = (
            slice(None)
            if self.is_fsdp_enabled
            else slice(self.args.process_index, None, self.args.world_size)
        )
        mine = self._dev[share]
        lost, weight = self._dev_loss(mine)
        answers = generate_greedy(self.model, self._tokenizer, mine) if mine else []
        every = gather_object([(example, one) for example, one in zip(mine, answers, strict=True)])
        sums = gather_object([(lost, weight)])
        won = measure_ter_gain([example for example, _ in every], [one for _, one in every])
        loss = sum(part for part, _ in sums) / sum(part for _, part in sums)
        metrics = {
            "eval_loss": loss,
            "eval_ter_gain": won.ter,
            "eval_ter": won.after,
            "eval_stopped": won.stopped,
        }
        self.tell(DevEvaluation(self.state.global_step, loss, won.before, won.after, won.stopped))
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        self.seconds_looked += time.monotonic() - began
        return metrics

    @torch.no_grad()
    def _dev_loss(self, examples: Sequence[Example]) -> tuple[float, float]:
        """Its sum over the tokens of the answers, and their number: the prompts' are no measure of the task."""
        lost = weight = 0.0
        collator = BatchCollator(self._tokenizer.eos_token_id, prompt_weight=0.0)
        encoded = sorted((encode_example(self._tokenizer, one) for one in examples), key=len)
        model: Any = self.model
        model.eval()
        for start in range(0, len(encoded), self._config.micro_batch):
            batch = collator(encoded[start : start + self._config.micro_batch])
            weight += float(batch["loss_weights"].sum())
            lost += float(model(**self._prepare_inputs(batch)).loss)
        model.train()
        return lost, weight

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """As it is done, and then a mark that it was; a half that did not fit is taken away."""
        checkpoints = Path(str(self.args.output_dir))
        place = checkpoints / f"checkpoint-{self.state.global_step}"
        try:
            with explain_write_errors(
                f"The checkpoint of step {self.state.global_step}", TrainingRun(checkpoints.parent)
            ):
                super()._save_checkpoint(model, trial)
                self.accelerator.wait_for_everyone()  # each has a file of its own in it
                if self.args.should_save:
                    mark_complete(place, end=self.control.should_training_stop)
        except Exception:
            shutil.rmtree(place, ignore_errors=True)
            raise

    def stand_at(self, checkpoint: Path) -> None:
        """Be where a training was that came to its end there, and was killed before its adapter was saved."""
        self.state = TrainerState.load_from_json(str(checkpoint / TRAINER_STATE_NAME))
        self.tell(TrainingStart(self.state.global_step, self.state.global_step))
        best = self.state.best_global_step
        self._load_from_checkpoint(str(checkpoint.with_name(f"checkpoint-{best}") if best else checkpoint))


class _EventCallback(TrainerCallback):
    """Tells of every step, with the rate so far and the time that is left; and sees to what the Trainer leaves out."""

    def __init__(self, trainer: ApeTrainer) -> None:
        self._trainer = trainer
        self._began = 0.0
        self._first = 0

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """The best checkpoint is looked for where it lies now: the directory may have been moved."""
        self._began, self._first = time.monotonic(), state.global_step
        if state.best_global_step:
            state.best_model_checkpoint = f"{args.output_dir}/checkpoint-{state.best_global_step}"
        self._trainer.tell(TrainingStart(state.global_step, state.max_steps))

    def on_epoch_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """The Trainer tells the order its epoch only where no other process and no skipping stands between."""
        self._trainer.order.set_epoch(int(state.epoch or 0))

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """The last step is looked at as well, or it could not be the best."""
        if state.global_step >= state.max_steps and args.eval_strategy != "no":
            control.should_evaluate = True

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **named: Any
    ) -> None:
        """The rate is that of the steps alone, and the time left has the looks at dev in it."""
        logs = named.get("logs") or {}
        if "loss" not in logs or state.global_step <= self._first:
            return
        passed = time.monotonic() - self._began
        done, left = state.global_step - self._first, state.max_steps - state.global_step
        rate = self._trainer.tokens_seen * args.world_size / (passed - self._trainer.seconds_looked)
        self._trainer.tell(
            TrainingStep(state.global_step, state.max_steps, logs["loss"], rate, passed / done * left)
        )
