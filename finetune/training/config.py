"""Training configuration, read from a TOML file; the defaults follow PAR3."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ape.errors import InputError
from ape.files.rows import describe_validation_error, read_toml


class LoraConfig(BaseModel):
    """Shape of the adapter."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rank: Annotated[int, Field(ge=1, le=512)] = 16
    alpha: Annotated[float, Field(gt=0)] = 32.0
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    modules: Annotated[
        tuple[str, ...] | Literal["all-linear"], Field(description="names of the linear modules to adapt")
    ] = "all-linear"
    first_layer: Annotated[
        int, Field(ge=0, description="layers below it are not adapted and need no backward pass")
    ] = 0


class DevEvaluationConfig(BaseModel):
    """When to evaluate on dev, and when to stop early."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    every: Annotated[int, Field(ge=1, description="steps between checkpoints, each with a dev evaluation")] = 100
    examples: Annotated[int, Field(ge=0, description="dev examples to evaluate on; 0 turns evaluation off")] = 128
    patience: Annotated[int, Field(ge=1, description="evaluations without a gain before training stops")] = 3
    keep: Annotated[int, Field(ge=1, description="checkpoints to keep in addition to the best")] = 2


class TrainConfig(BaseModel):
    """Everything that determines the weights, apart from base model and data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    epochs: Annotated[float, Field(gt=0)] = 2.0
    max_steps: Annotated[int | None, Field(ge=1, description="upper limit on steps, below what the epochs need")] = None
    batch: Annotated[int, Field(ge=1, description="examples per step, over all micro-batches and processes")] = 32
    micro_batch: Annotated[int, Field(ge=1, description="examples per forward pass and process")] = 4
    learning_rate: Annotated[float, Field(gt=0)] = 2e-4
    warmup: Annotated[float, Field(ge=0, lt=1, description="share of the steps with a rising learning rate")] = 0.03
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    clip: Annotated[float, Field(gt=0, description="maximum gradient norm")] = 1.0
    prompt_weight: Annotated[
        float, Field(ge=0, le=1, description="loss weight of prompt tokens; answer tokens have 1")
    ] = 0.1
    max_tokens: Annotated[int, Field(ge=16)] = 2048
    seed: int = 1
    precision: Literal["float32", "bfloat16"] = "float32"
    quantised: Annotated[bool, Field(description="QLoRA: load the base in 4 bits with bitsandbytes")] = False
    checkpointing: Annotated[bool, Field(description="recompute activations in the backward pass to save memory")] = (
        False
    )
    chunk: Annotated[int, Field(ge=1, description="tokens whose logits are in memory at a time")] = 1024
    # Never tried on a GPU. accelerate does not shard on CPUs; forced to (two processes, version 2), steps and dev
    # evaluations worked and saving failed: state dicts were sharded, and loading the best checkpoint hung.
    fsdp: Annotated[
        dict[str, bool | int | str] | None,
        Field(description="fsdp_config of transformers, for GPUs; not tested on them yet"),
    ] = None
    lora: LoraConfig = LoraConfig()
    watch: DevEvaluationConfig = DevEvaluationConfig()

    @model_validator(mode="after")
    def _check_batch_divides(self) -> Self:
        if self.batch % self.micro_batch:
            raise ValueError(f"micro_batch {self.micro_batch} does not divide batch {self.batch}")
        return self


def read_train_config(path: Path | None) -> TrainConfig:
    """Read the configuration from a file; without one, use the defaults."""
    if path is None:
        return TrainConfig()
    try:
        return TrainConfig.model_validate(read_toml(path))
    except ValidationError as error:
        raise InputError(f"{path}: {describe_validation_error(error)}.") from error
