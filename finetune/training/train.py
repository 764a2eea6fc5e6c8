"""Train a LoRA adapter with peft and the Trainer of transformers.

A run resumes from the last intact checkpoint and ends with the same weights as an uninterrupted one. Under torchrun
each process takes its part of every batch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from math import ceil
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from transformers import TrainingArguments, set_seed

from ape.adapters import AdapterCard, write_card
from ape.errors import InputError
from finetune.base_model import LoadedBase, load_base
from finetune.data.dataset import ExampleDataset, read_dataset
from finetune.data.example import sample_evenly
from finetune.training.config import TrainConfig
from finetune.training.encoding import FILLER_EXAMPLE, BatchCollator, encode_example, encode_examples
from finetune.training.loss import use_weighted_loss
from finetune.training.loss_plot import plot_losses
from finetune.training.run_directory import TrainingRun, checkpoint_step, explain_write_errors, open_training_run
from finetune.training.trainer import ApeTrainer, SkippedCheckpoint, TrainingEvent
from prompts import TUNED_FORMAT

TENSORBOARD = "tensorboard"
LIBRARIES = ("torch", "transformers", "peft", "accelerate")


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """A finished training run: the adapter's directory and the log history."""

    directory: Path
    steps: int
    resumed_from: int
    history: tuple[Mapping[str, Any], ...]


def train_adapter(
    base: str, data: Path, out: Path, *, config: TrainConfig, listen: Callable[[TrainingEvent], None] = lambda _: None
) -> TrainingResult:
    """Train an adapter into a new directory, or resume the unfinished run in it."""
    if config.fsdp is not None and not torch.cuda.is_available():
        raise InputError("fsdp needs GPUs: on CPUs each process keeps the whole model. Leave it out on this machine.")
    examples = read_dataset(data)
    settings = {"base": base, "data": examples.manifest_hash, "config": config.model_dump(mode="json")}
    run = open_training_run(out, settings)
    with run.locked_directory():
        return _train(base, examples, run, config, listen)


def _train(
    base: str, examples: ExampleDataset, run: TrainingRun, config: TrainConfig, listen: Callable[[TrainingEvent], None]
) -> TrainingResult:
    loaded = load_base(base, dtype=config.precision, quantised=config.quantised)
    trainer = _trainer(loaded, examples, run, config, listen)
    last = run.last_checkpoint(lambda path, file: trainer.emit(SkippedCheckpoint(checkpoint_step(path), file)))
    if last and run.ended_at(last):
        trainer.restore_ended(last)
    else:
        with explain_write_errors(f"The log in {run.directory / TENSORBOARD}", run):
            trainer.train(resume_from_checkpoint=str(last) if last else None)
    if trainer.is_world_process_zero():
        with explain_write_errors(f"The adapter in {run.directory}", run):
            _save(trainer, loaded, examples, run, config)
    trainer.accelerator.wait_for_everyone()
    return TrainingResult(
        run.directory, trainer.state.global_step, checkpoint_step(last) if last else 0, tuple(trainer.state.log_history)
    )


def add_adapter(loaded: LoadedBase, config: TrainConfig) -> Any:
    """Add a new adapter and the weighted loss to the base."""
    set_seed(config.seed)
    lora, layers = config.lora, loaded.model.config.num_hidden_layers
    first = lora.first_layer
    if first >= layers:
        raise InputError(f"lora.first_layer is {first}, and the base has {layers} layers, counted from 0.")
    use_weighted_loss(loaded.model, chunk=config.chunk)
    if config.quantised:
        import peft

        prepare: Any = peft.prepare_model_for_kbit_training
        prepare(loaded.model, use_gradient_checkpointing=config.checkpointing)
    settings = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,  # type: ignore[arg-type]  # any factor, not only an integer
        lora_dropout=lora.dropout,
        target_modules=_linear_layer_names(loaded.model) if lora.modules == "all-linear" else list(lora.modules),
        layers_to_transform=list(range(first, layers)) if first else None,
        task_type="CAUSAL_LM",
    )
    try:
        return get_peft_model(loaded.model, settings)
    except ValueError as error:
        names = ", ".join(_linear_layer_names(loaded.model))
        raise InputError(f"lora.modules has names that the base does not have. It has: {names}.") from error


def _linear_layer_names(model: Any) -> list[str]:
    """The linear modules without the head; peft's "all-linear" can't be restricted to some layers."""
    head = model.get_output_embeddings()
    linear = (name for name, part in model.named_modules() if isinstance(part, torch.nn.Linear) and part is not head)
    return sorted({name.rpartition(".")[2] for name in linear})


def _trainer(
    loaded: LoadedBase,
    examples: ExampleDataset,
    run: TrainingRun,
    config: TrainConfig,
    listen: Callable[[TrainingEvent], None],
) -> ApeTrainer:
    window = getattr(loaded.model.config, "max_position_embeddings", None)
    encoded = encode_examples(loaded.tokenizer, examples["train"], max_tokens=config.max_tokens, window=window)
    limit = min(config.max_tokens, window or config.max_tokens)
    dev = [
        one
        for one in sample_evenly(examples["dev"], config.watch.examples)
        if len(encode_example(loaded.tokenizer, one)) <= limit  # dev is not filtered by length
    ]
    if not encoded:
        raise InputError(f"{examples.directory} has no examples to train on.")
    rows: Any = [*encoded, FILLER_EXAMPLE]
    trainer = ApeTrainer(
        model=add_adapter(loaded, config),
        args=_arguments(run, config, len(encoded), evaluate=bool(dev)),
        train_dataset=rows,
        eval_dataset=rows[:0] if dev else None,  # ApeTrainer.evaluate has its own examples
        data_collator=BatchCollator(loaded.tokenizer.eos_token_id, config.prompt_weight),
        processing_class=loaded.tokenizer,
    )
    trainer.prepare(config, encoded, dev, listen)
    return trainer


def _arguments(run: TrainingRun, config: TrainConfig, examples: int, *, evaluate: bool) -> TrainingArguments:
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    parts, rest = divmod(config.batch, config.micro_batch * processes)
    if rest:
        raise InputError(
            f"batch {config.batch} is not divisible by {processes} processes with micro_batch {config.micro_batch}. "
            "Choose another micro_batch."
        )
    os.environ["TENSORBOARD_LOGGING_DIR"] = str(run.directory / TENSORBOARD)
    steps = ceil(config.epochs * ceil(examples / config.batch))
    fsdp: Any = None if config.fsdp is None else True
    arguments = TrainingArguments(
        output_dir=str(run.checkpoints.absolute()),
        max_steps=min(steps, config.max_steps or steps),
        per_device_train_batch_size=config.micro_batch,
        gradient_accumulation_steps=parts,
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=config.warmup,
        weight_decay=config.weight_decay,
        max_grad_norm=config.clip,
        bf16=config.precision == "bfloat16",
        use_cpu=not torch.cuda.is_available(),
        gradient_checkpointing=config.checkpointing,
        fsdp=fsdp,
        fsdp_config=dict(config.fsdp) if config.fsdp else None,
        seed=config.seed,
        data_seed=config.seed,
        eval_strategy="steps" if evaluate else "no",
        eval_steps=config.watch.every,
        save_strategy="steps",
        save_steps=config.watch.every,
        save_total_limit=config.watch.keep + 1,
        load_best_model_at_end=evaluate,
        metric_for_best_model="eval_ter_gain" if evaluate else None,
        greater_is_better=True if evaluate else None,
        restore_callback_states_from_checkpoint=True,
        logging_steps=1,
        report_to=["tensorboard"],
        disable_tqdm=True,
        remove_unused_columns=False,
        label_names=["labels"],
        ddp_find_unused_parameters=False,
        dataloader_pin_memory=torch.cuda.is_available(),
    )
    arguments._n_gpu = min(arguments.n_gpu, 1)  # several GPUs need torchrun, with a process each
    return arguments


def _save(
    trainer: ApeTrainer, loaded: LoadedBase, examples: ExampleDataset, run: TrainingRun, config: TrainConfig
) -> None:
    """Save the adapter, the plot and, last, the card: a directory with a card is complete."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    settings = model.peft_config["default"]
    settings.base_model_name_or_path = loaded.card.model  # its name instead of its path
    if not isinstance(settings.target_modules, str):
        settings.target_modules = sorted(settings.target_modules)  # peft has a set, in arbitrary order
    # "auto" would look the base up on the hub, to see whether the vocabulary has grown.
    model.save_pretrained(run.directory, save_embedding_layers=False)
    (run.directory / "README.md").unlink(missing_ok=True)
    history = trainer.state.log_history
    (run.directory / "history.json").write_text(json.dumps(history, indent=1) + "\n", encoding="utf-8")
    plot_losses(history, run.directory / "loss.png")
    best = trainer.state.best_metric
    card = AdapterCard(
        base=loaded.card,
        prompt=TUNED_FORMAT.fingerprint,
        separators=TUNED_FORMAT.separators,
        stop=TUNED_FORMAT.stop,
        languages=examples.languages,
        data=examples.manifest_hash,
        training={
            **config.model_dump(mode="json"),
            "steps": trainer.state.global_step,
            "examples": len(examples["train"]),
            "libraries": {name: version(name) for name in LIBRARIES},
            "best": {"step": trainer.state.best_global_step, "ter_gain": best} if best is not None else None,
        },
    )
    write_card(run.directory, card)
    run.finish()
