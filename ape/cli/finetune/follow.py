"""Following a hosted job at a terminal: a bar, or a line now and then, and what to type when it is left alone."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import typer
from rich.console import Console

from ape.cli.talk import error_console, passages_progress, say
from ape.engines.retry import RetryPolicy
from ape.errors import EngineError
from ape.events import Event, Retry
from ape.settings import load_settings
from finetune.hosted.card import HostedCard, card_of, refuse_failure, results_of, write_card
from finetune.hosted.job import News, Watch, follow
from finetune.hosted.provider import Provider

STOPPED = 130
# Lines about steps in all, where there is no terminal for a bar.
_LINES = 10
T = TypeVar("T")


def asked(url: str, work: Callable[[Provider], Awaitable[T]]) -> T:
    """Do the work with the provider at that address, by the key that the settings have for it."""
    settings = load_settings(url=url)
    key = settings.engine_key.get_secret_value() if settings.engine_key else None
    retry = RetryPolicy(attempts=settings.retry_attempts, total_seconds=settings.retry_seconds)

    async def work_there() -> T:
        async with Provider(
            str(settings.url),
            key=key,
            listen=_tell_retry,
            retry=retry,
            timeout_seconds=settings.timeout_seconds or 300.0,
        ) as provider:
            return await work(provider)

    return asyncio.run(work_there())


def follow_job(job: str, *, url: str, out: Path | None, every: float) -> HostedCard:
    """Watch the job to its end, and write the card of the model that comes of it."""
    try:
        with watching(error_console(), job) as watch:
            ended = asked(url, lambda provider: follow(provider, job, every_seconds=every, watch=watch))
    except KeyboardInterrupt:
        say(f"No longer followed, but job {job} goes on, and so does its cost. {_ways(job, url, out)}")
        raise typer.Exit(STOPPED) from None
    except EngineError:
        say(f"Job {job} is no longer followed, but goes on. {_ways(job, url, out)}")
        raise
    refuse_failure(ended)
    card = card_of(ended, url=url.rstrip("/"))
    if out is None:
        return card
    try:
        results = asked(url, lambda provider: results_of(provider, ended))
    except EngineError as error:
        say(f"The results of the training can't be fetched: {error}")
        results = []
    return write_card(card, out, results=results)


def cancel_job(job: str, *, url: str) -> None:
    """End it before its time."""
    ended = asked(url, lambda provider: provider.cancel(job))
    say(f"Job {ended.id} is {ended.status}.")


def show_card(card: HostedCard, *, json_output: bool) -> None:
    """The card for machines, or the command to type next."""
    if json_output:
        typer.echo(card.model_dump_json(indent=2))
        return
    trained = f", trained on {card.trained_tokens:,} tokens" if card.trained_tokens else ""
    say(f"{card.model} is ready{trained}. Post-edit with it:")
    typer.echo(card.command)


def _tell_retry(event: Event) -> None:
    if isinstance(event, Retry):
        say(f"{event.reason} Trying again in {event.wait_seconds:.0f} s.")


def _ways(job: str, url: str, out: Path | None) -> str:
    place = ["--url", url] + (["--out", str(out)] if out else [])
    follow_it = shlex.join(["ape", "finetune", "openai", "--follow", job, *place])
    cancel_it = shlex.join(["ape", "finetune", "openai", "--cancel", job, "--url", url])
    return f"Follow it again, or end it:\n  {follow_it}\n  {cancel_it}"


@contextmanager
def watching(console: Console, job: str) -> Iterator[Watch]:
    """Show what is told: messages as lines; steps by a bar, or by a few lines where there is no terminal."""
    if not console.is_terminal:
        yield _Lines().show
        return
    with passages_progress(console) as bar:
        task = bar.add_task(job, total=None, so_far="")

        def show(news: News) -> None:
            if news.step is None:
                bar.update(task, description=f"{job} {news.status}")
                if news.message:
                    bar.console.print(news.message, markup=False, soft_wrap=True)
                return
            loss = "" if news.loss is None else f"· loss {news.loss:.3f}"
            bar.update(task, completed=news.step, total=news.steps, so_far=loss)

        yield show


class _Lines:
    """A line for each message and each change of status, and about ten for all the steps."""

    def __init__(self) -> None:
        self.status = ""
        self.tenth = -1

    def show(self, news: News) -> None:
        """Say it, if it is worth a line."""
        if news.status != self.status and not news.message:
            say(f"The job is {news.status}.")
            self.status = news.status
        if news.step is None:
            if news.message:
                say(news.message)
            return
        tenth = news.step * _LINES // news.steps if news.steps else news.step // 100
        if tenth != self.tenth:
            self.tenth = tenth
            say(news.message)
