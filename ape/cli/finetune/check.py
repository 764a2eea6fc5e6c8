"""`ape finetune check`: audit training data, or compare an adapter across engines."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.exit_codes import EXIT_UNFIT
from ape.cli.flags import JsonFlag
from ape.errors import EngineError, InputError, ModelError, NoRoom

if TYPE_CHECKING:
    from ape.engines import Engine
    from ape.settings import Settings
    from finetune.checks.parity import EngineParity, ReferenceAnswer
    from finetune.checks.tuned_model import TunedModel
    from finetune.data.example import Example

# All engines compute in float32; compilation would take longer than the comparison.
VLLM_FLAGS = ("--dtype", "float32", "--enforce-eager")


def check(
    data: Annotated[Path, typer.Option("--data", help="Training set of `ape finetune build`.")],
    adapter: Annotated[Path | None, typer.Argument(help="Trained adapter; none before training.")] = None,
    base: Annotated[
        str | None,
        typer.Option("--base", help="Base model: a directory, hub id, .gguf file or name; see the adapter’s card."),
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="TOML file of the training, before training.")] = None,
    show: Annotated[int, typer.Option("--show", min=0, help="Number of examples to print, before training.")] = 3,
    prompts: Annotated[
        int, typer.Option("--prompts", min=1, help="Number of dev prompts to compare, after training.")
    ] = 50,
    gguf: Annotated[
        Path | None, typer.Option("--gguf", help="Base model as a GGUF file for the embedded engine.")
    ] = None,
    vllm: Annotated[bool, typer.Option("--vllm", help="Compare with vLLM too, which takes a minute to start.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Audit the training data; or, with an adapter, compare its output across engines.

    Before training: print a few examples with every token marked as learned (with
    its weight), read only or padding. The exit code is 2 if an example can't be
    trained on, or if the embedded engine tokenizes it differently.

    After training: compare greedy answers to dev prompts of transformers, the
    embedded engine and vLLM, and write the result to the adapter's ape.json. The
    exit code is 3 if fewer than 99% of the answers stop by themselves, or if an
    engine differs by more than a near-tie.
    """
    if adapter is None:
        if base is None:
            raise InputError(
                "Give the base model, --base NAME, before training, or the adapter to check after training."
            )
        _before(data, base, config, show=show, gguf=gguf, json_output=json_output)
        return
    if config is not None:
        raise InputError("--config is for the check before training; after it, the adapter's card has the settings.")
    _after(adapter, data, base, prompts=prompts, gguf=gguf, vllm=vllm, json_output=json_output)


def _before(data: Path, base: str, config: Path | None, *, show: int, gguf: Path | None, json_output: bool) -> None:
    import asyncio

    from transformers import AutoConfig

    from ape.cli.finetune.check_output import audit_json, print_audit
    from ape.cli.terminal import error_console, passages_progress, pull_progress
    from ape.settings import load_settings
    from finetune.base_model import find_base, load_tokenizer
    from finetune.checks.audit import audit_examples
    from finetune.checks.engine_tokens import find_engine_faults
    from finetune.checks.tuned_model import find_gguf
    from finetune.data.dataset import read_dataset
    from finetune.training.config import read_train_config

    training = read_train_config(config)
    examples = read_dataset(data)
    with pull_progress(error_console()) as fetching:
        found = find_base(base, progress=fetching)
        gguf = gguf or find_gguf(base, cache=load_settings().cache, progress=fetching)
    tokenizer = load_tokenizer(found, base)
    window = getattr(AutoConfig.from_pretrained(found.location), "max_position_embeddings", None)
    splits = {split: list(examples[split]) for split in ("train", "dev")}
    with passages_progress(error_console()) as bar:
        task = bar.add_task("Looking", total=sum(map(len, splits.values())), so_far="")
        result = audit_examples(
            tokenizer,
            splits,
            config=training,
            window=window,
            show=show,
            progress=lambda count: bar.advance(task, count),
        )
        if gguf is not None:
            everything = [example for side in splits.values() for example in side]
            task = bar.add_task("Asking llama.cpp", total=len(everything), so_far="")
            result.faults.extend(
                asyncio.run(find_engine_faults(gguf, tokenizer, everything, progress=partial(bar.advance, task)))
            )
    engine = gguf.name if gguf else None
    if json_output:
        typer.echo(json.dumps(audit_json(tokenizer, result, engine=engine), indent=2, ensure_ascii=False))
    else:
        print_audit(tokenizer, result, engine=engine)
    result.require_sound()


def _after(
    adapter: Path, data: Path, base: str | None, *, prompts: int, gguf: Path | None, vllm: bool, json_output: bool
) -> None:
    from ape.adapters import amend_card
    from ape.cli.finetune.check_output import list_shortcomings, parity_json, print_parity
    from ape.cli.terminal import error_console, print_line, pull_progress
    from ape.settings import load_settings
    from finetune.checks.parity import measure_stop_rate
    from finetune.checks.tuned_model import find_gguf, load_tuned_model
    from finetune.data.dataset import read_dataset
    from finetune.data.example import sample_evenly

    settings = load_settings()
    left_out = {}
    if reason := _why_no_vllm(settings, required=vllm):
        left_out["vllm"] = reason
    examples = read_dataset(data)
    if not examples["dev"]:
        raise InputError(f"{data} has no dev examples to ask about.")
    with pull_progress(error_console()) as fetching:
        tuned = load_tuned_model(adapter, base, cache=settings.cache, progress=fetching)
        gguf = gguf or find_gguf(base or tuned.card.base.model, cache=settings.cache, progress=fetching)
    if gguf is None:
        left_out["embedded"] = "the base is not a GGUF file. Give one with --gguf FILE."
    chosen = sample_evenly(examples["dev"], prompts)
    answers, compared, failed = _run_engines(tuned, chosen, settings, gguf=gguf, vllm=vllm)
    found = measure_stop_rate(answers)
    result = {
        "data": examples.manifest_hash,
        "split": "dev",
        "reference": tuned.library_versions,
        "prompts": found.prompts,
        "stopped": round(found.share, 4),
        **{name: parity.summary() for name, parity in compared.items()},
    }
    amend_card(adapter, {"parity": result})
    if json_output:
        typer.echo(json.dumps(parity_json(result, found, compared, left_out | failed), indent=2, ensure_ascii=False))
    else:
        print_parity(found, compared, left_out | failed)
    wrong = list(list_shortcomings(found, compared))
    for sentence in wrong:
        print_line(f"ape: {sentence}")
    if wrong:
        raise typer.Exit(EXIT_UNFIT)
    if failed:
        raise typer.Exit(EngineError.exit_code)


def _why_no_vllm(settings: Settings, *, required: bool) -> str | None:
    """Why vLLM is skipped; raises if it was requested but is not installed."""
    import asyncio
    import sys

    from ape.engines.vllm.launch import require_vllm

    try:
        asyncio.run(require_vllm(settings.vllm_python or Path(sys.executable)))
    except InputError as error:
        if required:
            raise
        return str(error)
    return None if required else "use --vllm to compare with it."


def _run_engines(
    tuned: TunedModel, examples: list[Example], settings: Settings, *, gguf: Path | None, vllm: bool
) -> tuple[list[ReferenceAnswer], dict[str, EngineParity], dict[str, str]]:
    """Compare each engine with Transformers; engines that failed come with the reason."""
    import asyncio

    from ape.cli.terminal import error_console, passages_progress
    from finetune.checks.divergence import NEAR_TIE
    from finetune.checks.parity import generate_reference
    from finetune.checks.tuned_model import embedded_engine_name, near_tie_margin, open_embedded_engine

    opened: dict[str, tuple[str, float, AbstractAsyncContextManager[Engine]]] = {}
    if gguf is not None:
        served = open_embedded_engine(tuned, gguf, threads=settings.threads)
        opened["embedded"] = embedded_engine_name(gguf), near_tie_margin(gguf), served
    if vllm:
        flags = settings.vllm_flags or VLLM_FLAGS
        opened["vllm"] = f"vLLM {' '.join(flags)}", NEAR_TIE, _on_vllm(tuned, settings, flags)
    with passages_progress(error_console()) as bar:
        task = bar.add_task("transformers + peft", total=len(examples), so_far="")
        answers = generate_reference(
            tuned.model, tuned.tokenizer, examples, progress=lambda count: bar.advance(task, count)
        )
        compared, failed = {}, {}
        for name, (engine_name, near, engine) in opened.items():
            task = bar.add_task(name, total=len(answers), so_far="")
            advance = partial(bar.advance, task)
            try:
                compared[name] = asyncio.run(_compare(engine, tuned, answers, engine_name, advance, near=near))
            except (EngineError, ModelError, NoRoom) as error:
                # The answers of the other engines took long; keep them.
                failed[name] = f"it failed. {error}"
    return answers, compared, failed


async def _compare(
    opened: AbstractAsyncContextManager[Engine],
    tuned: TunedModel,
    answers: list[ReferenceAnswer],
    engine_name: str,
    progress: Callable[[int], None],
    *,
    near: float,
) -> EngineParity:
    from finetune.checks.parity import compare_engine
    from finetune.checks.tuned_model import TUNED_ALIAS

    async with opened as engine:
        return await compare_engine(
            engine,
            TUNED_ALIAS,
            answers,
            model=tuned.model,
            tokenizer=tuned.tokenizer,
            engine_name=engine_name,
            near=near,
            progress=progress,
        )


@asynccontextmanager
async def _on_vllm(tuned: TunedModel, settings: Settings, flags: tuple[str, ...]) -> AsyncIterator[Engine]:
    """A vLLM with the adapter, started as `ape serve` starts it."""
    from ape.engines.factory import open_engine
    from ape.settings import DEFAULT_CONCURRENCY
    from finetune.checks.tuned_model import TUNED_ALIAS

    changes = {
        "engine": "vllm",
        "concurrency": DEFAULT_CONCURRENCY["vllm"],
        "url": None,
        "model": tuned.base.location,
        "adapters": {TUNED_ALIAS: tuned.directory},
        "adapter_dirs": (),
        "aliases": {},
        "vllm_flags": flags,
    }
    async with open_engine(settings.model_copy(update=changes), log_line=lambda _: None) as registry:
        yield registry
