"""Training on a CPU: tokens per second and peak memory, ours against trl's SFTTrainer on the same examples.

Both train a LoRA of the same shape on SmolLM2 for one epoch of the same texts, with the same batch size, in float32,
with a loss on the answers only. Each side is a separate process, whose peak memory is measured. trl is used as its
documentation shows: prompt and completion, 8 examples at a time (its default), 32 by gradient accumulation. Its only
changed default is bfloat16, which is slow on a CPU without AVX512. Gradient checkpointing saves memory at the cost of
speed, so trl is measured with it (its default) and without.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from typing import Any

from ape.sample import SAMPLES, load_sample
from benchmarks.claims import Claim
from finetune.data.example import Example

STEPS = 2
QUICK = 1
ROUNDS = 3
BATCH = 32
OUR_MICRO_BATCH = 2
THEIR_MICRO_BATCH = 8
RANK = 16
ALPHA = 32


@dataclass(frozen=True, slots=True)
class TrainingCost:
    """Tokens, time and peak memory of one side."""

    tokens: int
    seconds: float
    peak_bytes: int

    @property
    def rate(self) -> float:
        """Tokens per second, including those of prompts."""
        return self.tokens / self.seconds


def missing() -> str | None:
    """Which packages are missing, as a sentence; None if none is."""
    absent = [name for name in ("torch", "peft", "trl") if find_spec(name) is None]
    return f"train: needs {', '.join(absent)}: pip install 'ape-books[train,bench]'" if absent else None


def measure(steps: int = STEPS, rounds: int = ROUNDS) -> list[Claim]:
    """Measure every side once in each round, alternating the order."""
    found: dict[str, list[TrainingCost]] = {name: [] for name in SIDES}
    for number in range(rounds):
        for name in list(SIDES)[:: -1 if number % 2 else 1]:
            found[name].append(_measure_in_process(name, steps))
    setting = f"train: SmolLM2, LoRA {RANK}, {steps} steps of {BATCH} examples, float32, on the processor"

    def claim(text: str, one: str, other: str, of: Callable[[TrainingCost], float], **bound: Any) -> Claim:
        pairs = list(zip(found[one], found[other], strict=True))
        note = f"{_median(found[one], of):,.1f} against {_median(found[other], of):,.1f}"
        tokens = sum(a.tokens for a, _ in pairs) / sum(b.tokens for _, b in pairs)
        return Claim(text, tuple(of(a) / of(b) for a, b in pairs), note=note, setting=setting, tokens=tokens, **bound)

    def rate(side: TrainingCost) -> float:
        return side.rate

    def gigabytes(side: TrainingCost) -> float:
        return side.peak_bytes / 1e9

    return [
        claim("tokens a second, ours / trl", "ours", "trl", rate, bound=1.5),
        claim("peak memory, ours / trl", "ours", "trl", gigabytes, bound=0.6, direction="at most"),
        claim("tokens a second, ours / trl that keeps activations", "ours", "trl-kept", rate),
        claim("peak memory, ours / trl that keeps activations", "ours", "trl-kept", gigabytes),
        claim("tokens a second, prompt weight 0.1 / 0", "ours-weighted", "ours", rate),
    ]


def _median(sides: list[TrainingCost], of: Callable[[TrainingCost], float]) -> float:
    return sorted(map(of, sides))[len(sides) // 2]


def _measure_in_process(side: str, steps: int) -> TrainingCost:
    command = [sys.executable, "-m", "benchmarks.train", "--side", side, "--steps", str(steps)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return TrainingCost(**json.loads(done.stdout.splitlines()[-1]))


def make_examples(number: int, *, seed: int = 0) -> list[Example]:
    """Make examples of one or two random paragraphs of the sample chapters each."""
    chance = random.Random(seed)
    samples = cycle([load_sample(name) for name in SAMPLES])
    made = []
    for place, sample in zip(range(number), samples, strict=False):
        chosen = chance.sample(sample.paragraphs, chance.choice((1, 1, 2)))
        made.append(
            Example(
                id=str(place),
                book="sample",
                source=" ".join(one.source for one in chosen),
                mt=" ".join(one.mt for one in chosen),
                human=" ".join(one.good for one in chosen),
                source_language=sample.source_language,
                target_language=sample.target_language,
            )
        )
    return made


def train_ours(steps: int, *, prompt_weight: float = 0.0) -> TrainingCost:
    """Train with `train_adapter`, without dev evaluation."""
    from ape.models import DEFAULT_MODEL
    from finetune.base_model import find_base, load_tokenizer
    from finetune.data.dataset import write_dataset
    from finetune.training.config import TrainConfig
    from finetune.training.encoding import encode_example
    from finetune.training.train import train_adapter
    from finetune.training.trainer import TrainingEvent, TrainingStart, TrainingStep

    base, rows = find_base(DEFAULT_MODEL), make_examples(steps * BATCH)
    tokenizer = load_tokenizer(base, DEFAULT_MODEL)
    config = TrainConfig(
        epochs=1,
        batch=BATCH,
        micro_batch=OUR_MICRO_BATCH,
        prompt_weight=prompt_weight,
        lora={"rank": RANK, "alpha": ALPHA},
    )
    clock: dict[type[Any], float] = {}

    def listen(event: TrainingEvent) -> None:
        clock[type(event)] = time.perf_counter()

    with tempfile.TemporaryDirectory() as folder:
        write_dataset(Path(folder) / "data", {"train": rows}, {})
        train_adapter(base.location, Path(folder) / "data", Path(folder) / "out", config=config, listen=listen)
    tokens = sum(len(encode_example(tokenizer, one)) for one in rows)
    return TrainingCost(tokens, clock[TrainingStep] - clock[TrainingStart], _peak())


def train_theirs(steps: int, *, checkpointing: bool = True) -> TrainingCost:
    """Train with trl's SFTTrainer, as its documentation shows."""
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import TrainerCallback
    from trl.trainer.sft_config import SFTConfig
    from trl.trainer.sft_trainer import SFTTrainer

    from ape.models import DEFAULT_MODEL
    from finetune.base_model import find_base
    from prompts import TUNED_FORMAT

    rows = [
        {
            "prompt": TUNED_FORMAT.render(one.question).text,
            "completion": TUNED_FORMAT.completion(one.question, one.human),
        }
        for one in make_examples(steps * BATCH)
    ]
    clock: dict[str, float] = {}

    class Clock(TrainerCallback):
        """Records the same times as ours."""

        def on_train_begin(self, *_: Any, **__: Any) -> None:
            clock["began"] = time.perf_counter()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            clock["ended"] = time.perf_counter()

    with tempfile.TemporaryDirectory() as folder:
        arguments = SFTConfig(
            output_dir=folder,
            num_train_epochs=1,
            per_device_train_batch_size=THEIR_MICRO_BATCH,
            gradient_accumulation_steps=BATCH // THEIR_MICRO_BATCH,
            gradient_checkpointing=checkpointing,
            max_length=2048,
            bf16=False,
            use_cpu=True,
            save_strategy="no",
            report_to="none",
            model_init_kwargs={"dtype": "float32"},
        )
        trainer = SFTTrainer(
            model=find_base(DEFAULT_MODEL).location,
            args=arguments,
            train_dataset=Dataset.from_list(rows),
            peft_config=LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules="all-linear", task_type="CAUSAL_LM"),
            callbacks=[Clock()],
        )
        data: Any = trainer.train_dataset
        tokens = sum(map(len, data["input_ids"]))
        trainer.train()
    return TrainingCost(tokens, clock["ended"] - clock["began"], _peak())


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


SIDES: Mapping[str, Callable[[int], TrainingCost]] = {
    "ours": train_ours,
    "trl": train_theirs,
    "trl-kept": lambda steps: train_theirs(steps, checkpointing=False),
    "ours-weighted": lambda steps: train_ours(steps, prompt_weight=0.1),
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", choices=SIDES, required=True)
    parser.add_argument("--steps", type=int, default=STEPS)
    given = parser.parse_args()
    print(json.dumps(asdict(SIDES[given.side](given.steps))))
