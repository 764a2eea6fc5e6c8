"""The Trainer of transformers with weighted loss, length-grouped batches and dev evaluation."""

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
    """A checkpoint that can't be resumed from, because this file is damaged."""

    step: int
    file: str


@dataclass(frozen=True, slots=True)
class TrainingStart:
    """Training starts after this step: 0, or that of the checkpoint it resumes from."""

    step: int
    steps: int


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """A step is finished."""

    step: int
    steps: int
    loss: float
    tokens_per_second: float
    seconds_left: float


@dataclass(frozen=True, slots=True)
class DevEvaluation:
    """Evaluation on dev: the loss, TER of the MT and of the post-edits, and the share that ended by themselves."""

    step: int
    loss: float
    ter_before: float
    ter_after: float
    stop_rate: float


TrainingEvent = SkippedCheckpoint | TrainingStart | TrainingStep | DevEvaluation


class ApeTrainer(Trainer):
    """Trainer that weights tokens and evaluates greedy post-edits of dev."""

    def prepare(
        self,
        config: TrainConfig,
        examples: Sequence[EncodedExample],
        dev: Sequence[Example],
        listen: Callable[[TrainingEvent], None],
    ) -> None:
        """Set configuration, examples and listener; call once, before training."""
        self.order = LengthGroupedSampler([len(one) for one in examples], config.batch, seed=config.seed)
        self._config = config
        self._dev = dev
        self._tokenizer: Any = self.processing_class
        self._listen = listen
        self.tokens_seen = 0
        self.evaluation_seconds = 0.0
        self.loss_is_scaled_for_ga = True  # by the weight of the whole batch, in compute_loss
        self.remove_callback(PrinterCallback)
        self.add_callback(_EventCallback(self))
        if dev:
            self.add_callback(EarlyStoppingCallback(config.watch.patience))

    def emit(self, event: TrainingEvent) -> None:
        """Pass an event to the listener, in the first process only."""
        if self.is_world_process_zero():
            self._listen(event)

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        return self.order

    def _get_num_items_in_batch(self, batch_samples: list[Any], device: torch.device) -> Any:
        """Total weight of a batch over its micro-batches and processes, which divides its loss."""
        weight = sum((part["loss_weights"].sum() for part in batch_samples), torch.zeros(())).to(device)
        return self.accelerator.gather(weight).sum() if self.args.world_size > 1 else weight

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Share of this micro-batch in the batch mean; gradients are averaged over processes, hence the factor."""
        self.tokens_seen += int(inputs["attention_mask"].sum())
        total = model(**inputs).loss
        return total / num_items_in_batch * self.accelerator.num_processes

    def _clip_grad_norm(self, model: Any) -> Any:
        """Stop at a NaN or infinite gradient, before it reaches the weights and a checkpoint."""
        norm = super()._clip_grad_norm(model)  # type: ignore[no-untyped-call]
        if math.isfinite(float(norm)):
            return norm
        raise InputError(
            f"The gradient of step {self.state.global_step + 1} is {float(norm)}: training has diverged. Start again "
            "in another output directory with a lower learning_rate or a longer warmup."
        )

    def evaluate(self, *_args: Any, **_named: Any) -> dict[str, float]:
        """Loss and TER of greedy post-edits on dev; each process takes its share of the examples."""
        start = time.monotonic()
        # The shards of a model have to run the same examples at the same time.
        share = slice(None) if self.is_fsdp_enabled else slice(self.args.process_index, None, self.args.world_size)
        examples = self._dev[share]
        loss_sum, weight_sum = self._dev_loss(examples)
        answers = generate_greedy(self.model, self._tokenizer, examples) if examples else []
        gathered = gather_object(list(zip(examples, answers, strict=True)))
        sums = gather_object([(loss_sum, weight_sum)])
        gain = measure_ter_gain([example for example, _ in gathered], [answer for _, answer in gathered])
        loss = sum(part for part, _ in sums) / sum(part for _, part in sums)
        metrics = {
            "eval_loss": loss,
            "eval_ter_gain": gain.ter,
            "eval_ter": gain.ter_after,
            "eval_stopped": gain.stop_rate,
        }
        self.emit(DevEvaluation(self.state.global_step, loss, gain.ter_before, gain.ter_after, gain.stop_rate))
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        self.evaluation_seconds += time.monotonic() - start
        return metrics

    @torch.no_grad()
    def _dev_loss(self, examples: Sequence[Example]) -> tuple[float, float]:
        """Sum of the loss over the tokens of the answers, and their number; prompts are left out."""
        loss = weight = 0.0
        collator = BatchCollator(self._tokenizer.eos_token_id, prompt_weight=0.0)
        encoded = sorted((encode_example(self._tokenizer, one) for one in examples), key=len)
        model: Any = self.model
        model.eval()
        for start in range(0, len(encoded), self._config.micro_batch):
            batch = collator(encoded[start : start + self._config.micro_batch])
            weight += float(batch["loss_weights"].sum())
            loss += float(model(**self._prepare_inputs(batch)).loss)
        model.train()
        return loss, weight

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Save and mark as complete; remove a checkpoint that could not be written."""
        checkpoints = Path(str(self.args.output_dir))
        checkpoint = checkpoints / f"checkpoint-{self.state.global_step}"
        try:
            with explain_write_errors(
                f"The checkpoint of step {self.state.global_step}", TrainingRun(checkpoints.parent)
            ):
                super()._save_checkpoint(model, trial)
                self.accelerator.wait_for_everyone()  # each process writes a file
                if self.args.should_save:
                    mark_complete(checkpoint, end=self.control.should_training_stop)
        except Exception:
            shutil.rmtree(checkpoint, ignore_errors=True)
            raise

    def restore_ended(self, checkpoint: Path) -> None:
        """Restore a run that ended at this checkpoint and was killed before its adapter was saved."""
        self.state = TrainerState.load_from_json(str(checkpoint / TRAINER_STATE_NAME))
        self.emit(TrainingStart(self.state.global_step, self.state.global_step))
        best = self.state.best_global_step
        self._load_from_checkpoint(str(checkpoint.with_name(f"checkpoint-{best}") if best else checkpoint))


class _EventCallback(TrainerCallback):
    """Emit an event for every step, with rate and time left; set epoch and final evaluation."""

    def __init__(self, trainer: ApeTrainer) -> None:
        self._trainer = trainer
        self._start_time = 0.0
        self._first_step = 0

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Set the path of the best checkpoint anew, since the directory may have been moved."""
        self._start_time, self._first_step = time.monotonic(), state.global_step
        if state.best_global_step:
            state.best_model_checkpoint = f"{args.output_dir}/checkpoint-{state.best_global_step}"
        self._trainer.emit(TrainingStart(state.global_step, state.max_steps))

    def on_epoch_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Set the epoch of the sampler; the Trainer does not under several processes or after a resume."""
        self._trainer.order.set_epoch(int(state.epoch or 0))

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Evaluate after the last step too, so that it can be the best."""
        if state.global_step >= state.max_steps and args.eval_strategy != "no":
            control.should_evaluate = True

    def on_log(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **named: Any) -> None:
        """The rate leaves out dev evaluations; the time left includes them."""
        logs = named.get("logs") or {}
        if "loss" not in logs or state.global_step <= self._first_step:
            return
        passed = time.monotonic() - self._start_time
        done, left = state.global_step - self._first_step, state.max_steps - state.global_step
        rate = self._trainer.tokens_seen * args.world_size / (passed - self._trainer.evaluation_seconds)
        self._trainer.emit(TrainingStep(state.global_step, state.max_steps, logs["loss"], rate, passed / done * left))
