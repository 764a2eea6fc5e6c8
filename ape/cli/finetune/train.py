"""`ape finetune train`: train a LoRA adapter, or resume the training."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.exit_codes import EXIT_INTERRUPTED
from ape.cli.flags import JsonFlag
from ape.errors import ApeError

if TYPE_CHECKING:
    from rich.console import Console

    from finetune.training.train import TrainingResult
    from finetune.training.trainer import DevEvaluation, TrainingEvent, TrainingStep

# Seconds between progress lines without a terminal.
QUIET_SECONDS = 30.0


def train(
    base: Annotated[
        str, typer.Option(help="Base model: a name from `ape models list`, a directory, .gguf file or hub id.")
    ],
    data: Annotated[Path, typer.Option(help="Training set of `ape finetune build`.")],
    out: Annotated[
        Path, typer.Option("--output", "-o", help="Directory of the adapter; an unfinished training is resumed.")
    ],
    config: Annotated[
        Path | None, typer.Option(help="TOML file with settings; those of the PAR3 paper by default.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Train a LoRA adapter and save the checkpoint that is best on dev.

    On several GPUs: torchrun --nproc-per-node N -m ape.cli.main finetune train …
    """
    is_first = os.environ.get("RANK", "0") == "0"
    try:
        _train(base, data, out, config, json_output=json_output, is_first=is_first)
    except ApeError as error:
        if is_first:
            raise
        raise typer.Exit(error.exit_code) from error  # only the first process prints the error
    except KeyboardInterrupt:
        if is_first:
            _print_how_to_resume(out)
        raise typer.Exit(EXIT_INTERRUPTED) from None


def _train(base: str, data: Path, out: Path, config: Path | None, *, json_output: bool, is_first: bool) -> None:
    from ape.cli.terminal import error_console

    console = error_console()
    console.quiet = not is_first
    from transformers.utils.logging import set_verbosity

    from finetune.training.config import read_train_config
    from finetune.training.train import train_adapter

    set_verbosity(logging.ERROR)
    settings = read_train_config(config)
    console.print(f"Loading {base} and the examples in {data} …", markup=False)
    with _progress(console) as listen:
        trained = train_adapter(base, data, out, config=settings, listen=listen)
    if not is_first:
        return
    if json_output:
        typer.echo(json.dumps(_as_json(trained), indent=2))
    else:
        typer.echo(trained.directory)
    _print_next_commands(console, trained, base, data)


@contextmanager
def _progress(console: Console) -> Iterator[Callable[[TrainingEvent], None]]:
    """A progress bar with loss, speed and remaining time; occasional lines where stderr is not a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from finetune.training.trainer import DevEvaluation, SkippedCheckpoint, TrainingStart, TrainingStep

    columns = (TextColumn("step"), MofNCompleteColumn(), BarColumn(), TextColumn("{task.fields[so_far]}"))
    bar = Progress(*columns, console=console, disable=not console.is_terminal)
    task = bar.add_task("", total=None, so_far="")
    printed = time.monotonic()
    damaged = False

    def listen(event: TrainingEvent) -> None:
        nonlocal printed, damaged
        match event:
            case SkippedCheckpoint():
                damaged = True
                message = f"The checkpoint of step {event.step} is skipped: {event.file} is damaged."
                console.print(message, markup=False, soft_wrap=True)
            case TrainingStart():
                bar.update(task, completed=event.step, total=event.steps)
                if event.step:
                    console.print(f"Resuming from the checkpoint of step {event.step} of {event.steps}.")
                elif damaged:
                    console.print("There is no other checkpoint; training starts again from the beginning.")
            case TrainingStep():
                bar.update(task, completed=event.step, total=event.steps, so_far=_so_far(event))
                last = event.step == event.steps
                if not console.is_terminal and (last or time.monotonic() - printed >= QUIET_SECONDS):
                    printed = time.monotonic()
                    console.print(f"step {event.step} of {event.steps}: {_so_far(event)}", soft_wrap=True)
            case DevEvaluation():
                console.print(_describe_evaluation(event), soft_wrap=True)

    with bar:
        yield listen


def _so_far(step: TrainingStep) -> str:
    return f"loss {step.loss:.3f}, {step.tokens_per_second:,.0f} tokens/s, {_time(step.seconds_left)} left"


def _time(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}"


def _describe_evaluation(evaluation: DevEvaluation) -> str:
    ter = f"TER {evaluation.ter_before:.2f} (MT) -> {evaluation.ter_after:.2f} (post-edit)"
    stopped = f"{evaluation.stop_rate:.0%} of the answers stopped by themselves"
    return f"dev at step {evaluation.step}: {ter}, loss {evaluation.loss:.3f}, {stopped}"


def _print_next_commands(console: Console, trained: TrainingResult, base: str, data: Path) -> None:
    from ape.models import CATALOGUE

    place = trained.directory
    embedded = base in CATALOGUE or base.endswith(".gguf")
    serving = "" if embedded else "--engine vllm "
    console.print(
        f"The adapter is in {place}, after {trained.steps} steps; the loss curves are in {place / 'loss.png'}.\n"
        f"Check it:   ape finetune check {place} --base {base} --data {data}\n"
        f"Export it:  ape finetune export {place} --base {base}\n"
        f"Serve it:   ape serve {serving}--model {base} --adapter NAME={place}",
        markup=False,
        soft_wrap=True,
    )


def _print_how_to_resume(out: Path) -> None:
    from ape.cli.terminal import print_line
    from finetune.training.run_directory import TrainingRun, checkpoint_step

    last = TrainingRun(out).last_checkpoint()
    where = f"step {checkpoint_step(last)}, its last checkpoint" if last else "the beginning"
    print_line(f"Stopped. The same command resumes from {where}.")


def _as_json(trained: TrainingResult) -> dict[str, object]:
    looks = [row for row in trained.history if "eval_ter_gain" in row]
    return {
        "adapter": str(trained.directory),
        "steps": trained.steps,
        "resumed_from": trained.resumed_from,
        "plot": str(trained.directory / "loss.png"),
        "looks": looks,
    }
