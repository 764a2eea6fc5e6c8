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
        Path | None, typer.Option("--out", "-o", help="Directory for the files, the job record and the card.")
    ] = None,
    base: Annotated[
        str | None, typer.Option("--base", help="Model to fine-tune, e.g. gpt-4.1-mini-2025-04-14.")
    ] = None,
    epochs: Annotated[int, typer.Option("--epochs", min=1, max=50)] = 2,
    batch_size: Annotated[
        int | None,
        typer.Option("--batch-size", min=1, help="Batch size; chosen by the provider by default."),
    ] = None,
    learning_rate_multiplier: Annotated[
        float | None,
        typer.Option(
            "--learning-rate-multiplier",
            min=1e-6,
            help="Learning rate multiplier; chosen by the provider by default.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 1,
    suffix: Annotated[
        str | None, typer.Option("--suffix", help="Suffix of the name of the new model.")
    ] = "ape",
    url: Annotated[str, typer.Option("--url", help="URL of the API, including /v1.")] = OPENAI_URL,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens", min=64, help="Maximum tokens of an example; depends on the model by default."
        ),
    ] = None,
    price: Annotated[
        float | None, typer.Option("--price", min=0, help="Price of a million training tokens, in dollars.")
    ] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Leave out examples that the provider would refuse.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Start (and pay for) another job although --out has one.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Start the paid job without confirmation.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write and check the files; send nothing.")
    ] = False,
    follow: Annotated[
        str | None, typer.Option("--follow", help="Only follow this job until it ends.")
    ] = None,
    cancel: Annotated[str | None, typer.Option("--cancel", help="Only cancel this job.")] = None,
    every: Annotated[
        float, typer.Option("--every", min=0.01, help="Seconds between status requests.")
    ] = 10.0,
    json_output: JsonFlag = False,
) -> None:
    """Fine-tune a hosted chat model on a training set, and follow the job.

    The same command again goes on with the same job: it sends no file twice and begins no second job. Ctrl-C stops the
    following alone, not the job.
    """
    from ape.cli.finetune.hosted_progress import cancel_job, follow_hosted_job, print_card

    if cancel:
        cancel_job(cancel, url=url)
        return
    if follow:
        print_card(follow_hosted_job(follow, url=url, out=out, every=every), json_output=json_output)
        return
    if suffix and len(suffix) > 64:
        raise InputError(f"--suffix has {len(suffix)} characters and may have 64.", field="suffix")
    wanted = HostedJobRequest(
        _given(data, "--data", "a directory that `ape finetune build` wrote"),
        _given(out, "--out", "a directory to keep the files and the job in"),
        _given(base, "--base", "the model to fine-tune"),
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
    if job := _order(wanted, url=url, dry_run=dry_run):
        print_card(follow_hosted_job(job, url=url, out=wanted.out, every=every), json_output=json_output)


def _given(value: T | None, flag: str, what: str) -> T:
    if value is None:
        raise InputError(f"{flag} is missing: {what}.", field=flag.lstrip("-"))
    return value


def _order(wanted: HostedJobRequest, *, url: str, dry_run: bool) -> str | None:
    """The id of an earlier or new job; None if nothing was sent."""
    from ape.cli.terminal import print_line
    from finetune.hosted.job_record import open_job_record

    with open_job_record(wanted.out, url=url.rstrip("/")) as record:
        order, files = _prepared(wanted)
        print_line(_cost(wanted, files, url=url))
        if dry_run:
            print_line("Nothing was sent.")
            for file in files:
                typer.echo(file.path)
            return None
        return _earlier(record, order, wanted, url=url) or _begun(record, order, wanted, files, url=url)


def _prepared(wanted: HostedJobRequest) -> tuple[HostedJobOrder, list[TrainingFile]]:
    """Write and validate the training files, and make the job order."""
    from ape.cli.terminal import print_line
    from finetune.data.dataset import read_dataset
    from finetune.hosted.job_record import HostedJobOrder
    from finetune.hosted.training_file import refuse_invalid_files, write_training_file
    from finetune.hosted.validation import max_example_tokens
    from prompts import CHAT

    examples = read_dataset(wanted.data)
    limit = wanted.max_tokens or max_example_tokens(wanted.base)
    training = write_training_file(examples["train"], wanted.out / "train.jsonl", max_tokens=limit)
    dev = write_training_file(
        examples["dev"], wanted.out / "dev.jsonl", max_tokens=limit, excluded_questions=training.questions
    )
    refuse_invalid_files(training, dev, leave_out=wanted.leave_out)
    for file in (training, dev):
        print_line(
            f"{file.path.name}: {file.rows:,} examples, {len(file.rejected):,} left out, {file.size:,} bytes."
        )
    files = [file for file in (training, dev) if file.rows]
    order = HostedJobOrder(
        base=wanted.base,
        training=training.sha256,
        validation=dev.sha256 if dev.rows else None,
        epochs=wanted.epochs,
        batch_size=wanted.batch_size,
        learning_rate_multiplier=wanted.learning_rate_multiplier,
        seed=wanted.seed,
        suffix=wanted.suffix,
        prompt=CHAT.fingerprint,
        data=examples.manifest_hash,
        languages=examples.languages,
    )
    return order, files


def _cost(wanted: HostedJobRequest, files: list[TrainingFile], *, url: str) -> str:
    from ape.network import url_host
    from ape.settings import OPENAI_HOST
    from finetune.hosted.price import estimate_cost

    by_openai = url_host(url) == OPENAI_HOST
    cost = estimate_cost(
        files[0].tokens, epochs=wanted.epochs, base=wanted.base, by_openai=by_openai, price=wanted.price
    )
    hint = " Set the price with --price." if wanted.price is None else ""
    return f"{wanted.base}, {wanted.epochs} epochs: {cost.sentence}{hint}"


def _earlier(
    record: HostedJobRecord, order: HostedJobOrder, wanted: HostedJobRequest, *, url: str
) -> str | None:
    from ape.cli.finetune.hosted_progress import call_provider
    from ape.cli.terminal import print_line
    from finetune.hosted.job import find_earlier_job

    if wanted.again:
        return None
    job = call_provider(url, lambda provider: find_earlier_job(provider, record, order))
    if job:
        print_line(
            f"Job {job.id} was begun by this command before, and is {job.status}: it is not begun again."
        )
    return job.id if job else None


def _begun(
    record: HostedJobRecord,
    order: HostedJobOrder,
    wanted: HostedJobRequest,
    files: list[TrainingFile],
    *,
    url: str,
) -> str:
    from ape.cli.finetune.hosted_progress import call_provider
    from ape.cli.terminal import print_line
    from ape.network import url_host
    from finetune.hosted.job import start_job

    _ask_first(f"Send the files to {url_host(url)} and begin the job?", yes=wanted.yes)
    paths = {file.sha256: file.path for file in files}
    try:
        job = call_provider(url, lambda provider: start_job(provider, record, order, paths=paths))
    except KeyboardInterrupt:
        print_line("Stopped. The same command goes on, and finds the job if it was begun.")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    print_line(f"Job {job.id} is begun.")
    return job.id


def _ask_first(question: str, *, yes: bool) -> None:
    from ape.cli.terminal import print_line

    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError("Nobody is there to be asked whether to spend that: agree with --yes.", field="yes")
    typer.echo(f"{question} [y/N] ", err=True, nl=False)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        print_line("Nothing was sent.")
        raise typer.Exit(1)
