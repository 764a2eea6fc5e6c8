"""`ape finetune openai`: fine-tune a hosted model by the OpenAI API."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ape.cli.exit_codes import EXIT_INTERRUPTED
from ape.cli.flags import JsonFlag
from ape.errors import InputError

if TYPE_CHECKING:
    from finetune.hosted.job_record import HostedJobOrder, HostedJobRecord
    from finetune.hosted.training_file import TrainingFile

OPENAI_URL = "https://api.openai.com/v1"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HostedJobRequest:
    """The options of `ape finetune openai`."""

    data: Path
    out: Path
    base: str
    epochs: int
    batch_size: int | None
    learning_rate_multiplier: float | None
    seed: int
    suffix: str | None
    max_tokens: int | None
    price: float | None
    leave_out: bool
    again: bool
    yes: bool


def openai(
    data: Annotated[Path | None, typer.Option("--data", help="Training set of `ape finetune build`.")] = None,
    out: Annotated[
        Path | None, typer.Option("--output", "-o", help="Directory for the files, the job record and the card.")
    ] = None,
    base: Annotated[
        str | None, typer.Option("--base", help="Model to fine-tune, e.g. gpt-4.1-mini-2025-04-14.")
    ] = None,
    epochs: Annotated[int, typer.Option("--epochs", min=1, max=50)] = 2,
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", min=1, help="Batch size; chosen by the provider by default.")
    ] = None,
    learning_rate_multiplier: Annotated[
        float | None,
        typer.Option(
            "--learning-rate-multiplier", min=1e-6, help="Learning rate multiplier; chosen by the provider by default."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 1,
    suffix: Annotated[str | None, typer.Option("--suffix", help="Suffix of the name of the new model.")] = "ape",
    url: Annotated[str, typer.Option("--url", help="URL of the API, including /v1.")] = OPENAI_URL,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", min=64, help="Maximum tokens of an example; depends on the model by default."),
    ] = None,
    price: Annotated[
        float | None, typer.Option("--price", min=0, help="Price of a million training tokens, in dollars.")
    ] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Leave out examples that the provider would refuse.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Start (and pay for) another job although --output has one.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Start the paid job without confirmation.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write and check the files; send nothing.")] = False,
    follow: Annotated[str | None, typer.Option("--follow", help="Only follow this job until it ends.")] = None,
    cancel: Annotated[str | None, typer.Option("--cancel", help="Only cancel this job.")] = None,
    every: Annotated[float, typer.Option("--every", min=0.01, help="Seconds between status requests.")] = 10.0,
    json_output: JsonFlag = False,
) -> None:
    """Fine-tune a hosted chat model on a training set, and follow the job.

    The same command again resumes the same job; no file is sent twice. Ctrl-C
    stops following the job, but not the job.
    """
    from ape.cli.finetune.hosted_progress import cancel_job, follow_hosted_job, print_card

    if cancel:
        cancel_job(cancel, url=url)
        return
    if follow:
        print_card(follow_hosted_job(follow, url=url, out=out, every=every), json_output=json_output)
        return
    if suffix and len(suffix) > 64:
        raise InputError(f"--suffix has {len(suffix)} characters; the maximum is 64.", field="suffix")
    request = HostedJobRequest(
        _require(data, "--data", "a directory that `ape finetune build` wrote"),
        _require(out, "--output", "a directory for the files and the job record"),
        _require(base, "--base", "the model to fine-tune"),
        epochs=epochs,
        batch_size=batch_size,
        learning_rate_multiplier=learning_rate_multiplier,
        seed=seed,
        suffix=suffix or None,
        max_tokens=max_tokens,
        price=price,
        leave_out=leave_out,
        again=again,
        yes=yes,
    )
    if job := _find_or_start(request, url=url, dry_run=dry_run):
        print_card(follow_hosted_job(job, url=url, out=request.out, every=every), json_output=json_output)


def _require(value: T | None, flag: str, what: str) -> T:
    if value is None:
        raise InputError(f"{flag} is missing: {what}.", field=flag.lstrip("-"))
    return value


def _find_or_start(request: HostedJobRequest, *, url: str, dry_run: bool) -> str | None:
    """Find or start the job and return its id; None if nothing was sent."""
    from ape.cli.terminal import print_line
    from finetune.hosted.job_record import open_job_record

    with open_job_record(request.out, url=url.rstrip("/")) as record:
        order, files = _prepare(request)
        print_line(_cost(request, files, url=url))
        if dry_run:
            print_line("Nothing was sent.")
            for file in files:
                typer.echo(file.path)
            return None
        return _find_earlier(record, order, request, url=url) or _start(record, order, request, files, url=url)


def _prepare(request: HostedJobRequest) -> tuple[HostedJobOrder, list[TrainingFile]]:
    """Write and validate the training files, and make the job order."""
    from ape.cli.terminal import print_line
    from finetune.data.dataset import read_dataset
    from finetune.hosted.job_record import HostedJobOrder
    from finetune.hosted.training_file import refuse_invalid_files, write_training_file
    from finetune.hosted.validation import max_example_tokens
    from prompts import CHAT

    examples = read_dataset(request.data)
    limit = request.max_tokens or max_example_tokens(request.base)
    training = write_training_file(examples["train"], request.out / "train.jsonl", max_tokens=limit)
    dev = write_training_file(
        examples["dev"], request.out / "dev.jsonl", max_tokens=limit, excluded_questions=training.questions
    )
    refuse_invalid_files(training, dev, leave_out=request.leave_out)
    for file in (training, dev):
        print_line(f"{file.path.name}: {file.rows:,} examples, {len(file.rejected):,} left out, {file.size:,} bytes.")
    files = [file for file in (training, dev) if file.rows]
    order = HostedJobOrder(
        base=request.base,
        training=training.sha256,
        validation=dev.sha256 if dev.rows else None,
        epochs=request.epochs,
        batch_size=request.batch_size,
        learning_rate_multiplier=request.learning_rate_multiplier,
        seed=request.seed,
        suffix=request.suffix,
        prompt=CHAT.fingerprint,
        data=examples.manifest_hash,
        languages=examples.languages,
    )
    return order, files


def _cost(request: HostedJobRequest, files: list[TrainingFile], *, url: str) -> str:
    from ape.network import url_host
    from ape.settings import OPENAI_HOST
    from finetune.hosted.price import estimate_cost

    by_openai = url_host(url) == OPENAI_HOST
    cost = estimate_cost(
        files[0].tokens, epochs=request.epochs, base=request.base, by_openai=by_openai, price=request.price
    )
    hint = " Set the price with --price." if request.price is None else ""
    return f"{request.base}, {request.epochs} epochs: {cost.sentence}{hint}"


def _find_earlier(record: HostedJobRecord, order: HostedJobOrder, request: HostedJobRequest, *, url: str) -> str | None:
    from ape.cli.finetune.hosted_progress import call_provider
    from ape.cli.terminal import print_line
    from finetune.hosted.job import find_earlier_job

    if request.again:
        return None
    job = call_provider(url, lambda provider: find_earlier_job(provider, record, order))
    if job:
        print_line(f"Job {job.id} was started by an earlier run and is {job.status}; no new job is started.")
    return job.id if job else None


def _start(
    record: HostedJobRecord, order: HostedJobOrder, request: HostedJobRequest, files: list[TrainingFile], *, url: str
) -> str:
    from ape.cli.finetune.hosted_progress import call_provider
    from ape.cli.terminal import print_line
    from ape.network import url_host
    from finetune.hosted.job import start_job

    _confirm(f"Send the files to {url_host(url)} and start the job?", yes=request.yes)
    paths = {file.sha256: file.path for file in files}
    try:
        job = call_provider(url, lambda provider: start_job(provider, record, order, paths=paths))
    except KeyboardInterrupt:
        print_line("Stopped. Run the same command again; it finds the job if it was started.")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    print_line(f"Job {job.id} started.")
    return job.id


def _confirm(question: str, *, yes: bool) -> None:
    from ape.cli.terminal import print_line

    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError("stdin is not a terminal, so the cost can't be confirmed: use --yes.", field="yes")
    typer.echo(f"{question} [y/N] ", err=True, nl=False)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        print_line("Nothing was sent.")
        raise typer.Exit(1)
