"""How to train: one frozen configuration, read from a TOML file; what is left out is as PAR3 did it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ape.errors import InputError
from ape.files.rows import describe_validation_error


class LoraConfig(BaseModel):
    """The adapter's shape."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rank: Annotated[int, Field(ge=1, le=512)] = 16
    alpha: Annotated[float, Field(gt=0)] = 32.0
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    modules: Annotated[
        tuple[str, ...] | Literal["all-linear"], Field(description="the layers' parts that are adapted")
    ] = "all-linear"
    first_layer: Annotated[
        int, Field(ge=0, description="layers below it stay as they are, and cost no backward pass")
    ] = 0


class DevEvaluationConfig(BaseModel):
    """When to look at dev, and when to stop."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    every: Annotated[int, Field(ge=1, description="steps between checkpoints, each with a look at dev")] = 100
    examples: Annotated[int, Field(ge=0, description="of dev that are looked at; 0 looks at none")] = 128
    patience: Annotated[int, Field(ge=1, description="looks without a gain before it stops")] = 3
    keep: Annotated[int, Field(ge=1, description="checkpoints kept besides the best")] = 2


class TrainConfig(BaseModel):
    """Everything that decides the weights, besides base and data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    epochs: Annotated[float, Field(gt=0)] = 2.0
    max_steps: Annotated[int | None, Field(ge=1, description="ends it earlier than the epochs would")] = None
    batch: Annotated[int, Field(ge=1, description="examples in a step, over all parts and processes")] = 32
    micro_batch: Annotated[int, Field(ge=1, description="examples through the model at once, a process")] = 4
    learning_rate: Annotated[float, Field(gt=0)] = 2e-4
    warmup: Annotated[float, Field(ge=0, lt=1, description="share of the steps")] = 0.03
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    clip: Annotated[float, Field(gt=0, description="largest norm of a step's gradient")] = 1.0
    prompt_weight: Annotated[
        float, Field(ge=0, le=1, description="of a prompt's token in the loss, where an answer's has 1")
    ] = 0.1
    max_tokens: Annotated[int, Field(ge=16)] = 2048
    seed: int = 1
    precision: Literal["float32", "bfloat16"] = "float32"
    quantised: Annotated[bool, Field(description="QLoRA: the base in 4 bits, by bitsandbytes")] = False
    checkpointing: Annotated[
        bool, Field(description="work activations out twice instead of keeping them")
    ] = False
    chunk: Annotated[int, Field(ge=1, description="tokens whose logits exist at once")] = 1024
    # Tried on no GPU. accelerate does not shard on processors; forced to (two of them, version 2), steps and looks at
    # dev went well, and saving did not: state dicts came in parts, and loading the best checkpoint hung.
    fsdp: Annotated[
        dict[str, bool | int | str] | None,
        Field(
            description="FSDP over the processes, as transformers has it; on GPUs, and not tried there yet"
        ),
    ] = None
    lora: LoraConfig = LoraConfig()
    watch: DevEvaluationConfig = DevEvaluationConfig()

    @model_validator(mode="after")
    def _parts_make_the_whole(self) -> Self:
        if self.batch % self.micro_batch:
            raise ValueError(f"micro_batch {self.micro_batch} does not divide batch {self.batch}")
        return self


def read_train_config(path: Path | None) -> TrainConfig:
    """The configuration in a file, or the default one."""
    if path is None:
        return TrainConfig()
    try:
        return TrainConfig.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}.") from error
    except ValidationError as error:
        raise InputError(f"{path}: {describe_validation_error(error)}.") from error
