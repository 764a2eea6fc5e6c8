"""Progress of a hosted fine-tuning job, and how to follow it later."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import typer
from rich.console import Console

from ape.cli.exit_codes import EXIT_INTERRUPTED
from ape.cli.terminal import error_console, passages_progress, print_line
from ape.engines.retry import RetryPolicy
from ape.errors import EngineError, EngineRefused
from ape.passage.events import Event, RetryEvent
from ape.settings import load_settings
from finetune.hosted.card import HostedCard, fetch_results, make_card, raise_for_failed_job, write_hosted_card
from finetune.hosted.job import HostedJobEvent, HostedJobListener, follow_job
from finetune.hosted.provider import HostedProvider

# Number of progress lines without a terminal.
_LINES = 10
T = TypeVar("T")


def call_provider(url: str, work: Callable[[HostedProvider], Awaitable[T]]) -> T:
    """Call the provider with the API key of the settings."""
    settings = load_settings(url=url)
    key = settings.engine_key.get_secret_value() if settings.engine_key else None
    retry = RetryPolicy(attempts=settings.retry_attempts, total_seconds=settings.retry_seconds)

    async def call() -> T:
        async with HostedProvider(
            str(settings.url),
            key=key,
            listen=_print_retry,
            retry=retry,
            timeout_seconds=settings.timeout_seconds or 300.0,
        ) as provider:
            return await work(provider)

    return asyncio.run(call())


def follow_hosted_job(job: str, *, url: str, out: Path | None, every: float) -> HostedCard:
    """Follow the job until it ends, and write the card of its model."""
    try:
        with job_progress(error_console(), job) as watch:
            ended = call_provider(url, lambda provider: follow_job(provider, job, every_seconds=every, watch=watch))
    except KeyboardInterrupt:
        print_line(f"Stopped following. Job {job} still runs, and costs. {_next_commands(job, url, out)}")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except EngineError:
        print_line(f"Stopped following. Job {job} still runs. {_next_commands(job, url, out)}")
        raise
    try:
        raise_for_failed_job(ended)
    except EngineRefused as error:
        raise EngineRefused(f"{error} Start another job with --again.") from error
    card = make_card(ended, url=url.rstrip("/"))
    if out is None:
        return card
    try:
        results = call_provider(url, lambda provider: fetch_results(provider, ended))
    except EngineError as error:
        print_line(f"The training results can't be downloaded: {error}")
        results = []
    return write_hosted_card(card, out, results=results)


def cancel_job(job: str, *, url: str) -> None:
    """Cancel the job."""
    ended = call_provider(url, lambda provider: provider.cancel(job))
    print_line(f"Job {ended.id} is {ended.status}.")


def print_card(card: HostedCard, *, json_output: bool) -> None:
    """Print the card as JSON, or the next command."""
    if json_output:
        typer.echo(card.model_dump_json(indent=2))
        return
    trained = f", trained on {card.trained_tokens:,} tokens" if card.trained_tokens else ""
    print_line(f"{card.model} is ready{trained}. Post-edit with it:")
    typer.echo(shlex.join(["ape", "edit", "--engine", "url", "--url", card.url, "--model", card.model]))


def _print_retry(event: Event) -> None:
    if isinstance(event, RetryEvent):
        print_line(f"{event.reason} Trying again in {event.wait_seconds:.0f} s.")


def _next_commands(job: str, url: str, out: Path | None) -> str:
    place = ["--url", url] + (["--output", str(out)] if out else [])
    follow_it = shlex.join(["ape", "finetune", "openai", "--follow", job, *place])
    cancel_it = shlex.join(["ape", "finetune", "openai", "--cancel", job, "--url", url])
    return f"Follow or cancel it:\n  {follow_it}\n  {cancel_it}"


@contextmanager
def job_progress(console: Console, job: str) -> Iterator[HostedJobListener]:
    """Print messages as lines and steps as a progress bar, or as a few lines without a terminal."""
    if not console.is_terminal:
        yield _ProgressLines().show
        return
    with passages_progress(console) as bar:
        task = bar.add_task(job, total=None, so_far="")

        def show(event: HostedJobEvent) -> None:
            if event.step is None:
                bar.update(task, description=f"{job} {event.status}")
                if event.message:
                    bar.console.print(event.message, markup=False, soft_wrap=True)
                return
            loss = "" if event.loss is None else f"· loss {event.loss:.3f}"
            bar.update(task, completed=event.step, total=event.steps, so_far=loss)

        yield show


class _ProgressLines:
    """Prints messages, changes of status, and about ten lines for all steps."""

    def __init__(self) -> None:
        self.status = ""
        self.tenth = -1

    def show(self, event: HostedJobEvent) -> None:
        """Print the update unless it is minor."""
        if event.status != self.status and not event.message:
            print_line(f"The job is {event.status}.")
            self.status = event.status
        if event.step is None:
            if event.message:
                print_line(event.message)
            return
        tenth = event.step * _LINES // event.steps if event.steps else event.step // 100
        if tenth != self.tenth:
            self.tenth = tenth
            print_line(event.message)
