"""What `ape book edit` does: begin or go on, show progress, write the book, and tell the truth at the end."""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, TaskID

from ape.cli.book_show import Summary, show_summary, summary_of, write_job_report
from ape.cli.talk import error_console, fetch_with_progress, passages_progress, say
from ape.engines.protocol import DEFAULT, Engine, Model
from ape.errors import Conflict, InputError, UnknownJob
from ape.jobs.begin import Begun, Files, Opened, begin, job_id, open_files, recipe_for
from ape.jobs.job import Job, JobState, Recipe
from ape.jobs.output import hash_of, refuse_output, write_output
from ape.jobs.row import State
from ape.jobs.store import Store
from ape.jobs.work import EngineFails, Step, work_on
from ape.settings import Settings

NEEDS_YOU = 3
STOPPED = 130


@dataclass(frozen=True, slots=True)
class Wanted:
    """A book to be edited, as it was typed."""

    files: Files
    output: Path
    wishes: Recipe
    source_language: str | None = None
    target_language: str | None = None
    use: str = DEFAULT
    lanes: int | None = None
    failures: int = 3
    redo: tuple[str, ...] = ()
    again: bool = False
    overwrite: bool = False
    report: Path | None = None


def open_store(settings: Settings) -> Store:
    """The store that the settings name."""
    url = settings.jobs_url
    if "://" not in url:
        Path(url).expanduser().parent.mkdir(parents=True, exist_ok=True)
    return Store(url)


def edit_book(wanted: Wanted, settings: Settings, *, json_output: bool = False) -> int:
    """Edit the book, and give the exit code."""
    began = time.monotonic()
    _refuse_missing(wanted.files)
    opened = open_files(
        wanted.files, source_language=wanted.source_language, target_language=wanted.target_language
    )
    id = job_id(wanted.files, wanted.output)
    with open_store(settings) as store:
        inputs = tuple(path for path in (wanted.files.source, wanted.files.mt) if path)
        refuse_output(wanted.output, inputs=inputs, ours=_hash_written(store, id), overwrite=wanted.overwrite)
        fetch_with_progress(settings)
        try:
            job = asyncio.run(_edit(store, opened, wanted, settings, id))
        except (KeyboardInterrupt, asyncio.CancelledError):
            _tell_how_to_go_on(store, id)
            return STOPPED
        if job.state is not JobState.DONE:
            say(f"The job is {job.state}. `ape book edit` with the same files goes on with it.")
            return 1
        summary = _finish(store, job, wanted.output, seconds=time.monotonic() - began)
        if wanted.report:
            write_job_report(store, job, wanted.report)
    show_summary(summary, json_output=json_output)
    return NEEDS_YOU if summary.needs_you else 0


def help_with(store: Store, job: Job, settings: Settings, *, lanes: int | None, failures: int) -> int:
    """Work on a job that was begun elsewhere, by the recipe it was begun with."""

    async def work() -> JobState:
        async with opened_engine(settings, lanes=lanes) as engine:
            async with engine.using(job.recipe.model) as model:
                if model.revision != job.recipe.revision:
                    raise Conflict(
                        f"The job was begun with {job.recipe.model}, revision {job.recipe.revision or 'unknown'}; here "
                        f"it is {model.revision or 'unknown'}. Results of the two must not mix."
                    )
            return await _with_progress(
                store, job, engine, lanes=lanes_of(settings, lanes), failures=failures
            )

    fetch_with_progress(settings)
    try:
        state = asyncio.run(work())
    except (KeyboardInterrupt, asyncio.CancelledError):
        _tell_how_to_go_on(store, job.id)
        return STOPPED
    counts = store.counts(job.id)
    say(f"{counts.total - counts.waiting} of {counts.total} paragraphs are finished; the job is {state}.")
    return 0 if state is JobState.DONE else 1


def lanes_of(settings: Settings, lanes: int | None = None) -> int:
    """How many paragraphs are in flight.

    One on the embedded engine: llama.cpp rounds differently with every mixture of passages in a batch, so that a book
    interrupted and resumed would not be the same as one done in one go (measured: 8 of 28 paragraphs at four in flight).
    """
    if wanted := lanes or settings.book_lanes:
        return wanted
    if settings.engine == "embedded":
        return 1
    return settings.in_flight or (64 if settings.engine == "vllm" else 8)


@asynccontextmanager
async def opened_engine(settings: Settings, *, lanes: int | None = None) -> AsyncIterator[Engine]:
    """The engine for a book: with as many places as there are lanes, and repeatable where there is one."""
    from serve.open import open_roster

    count = lanes_of(settings, lanes)
    settings = settings.model_copy(
        update={
            "slots": min(count, 64),
            "in_flight": max(count, settings.in_flight or 0),
            "repeatable": count == 1,
        }
    )
    async with open_roster(settings, tell=say) as roster:
        yield roster


async def _edit(store: Store, opened: Opened, wanted: Wanted, settings: Settings, id: str) -> Job:
    async with opened_engine(settings, lanes=wanted.lanes) as engine:
        async with engine.using(wanted.use) as model:
            begun = await asyncio.to_thread(_begin, store, opened, wanted, model, id)
        _tell_what_is_new(store, begun)
        if begun.job.state is JobState.DONE and not store.counts(id).waiting:
            return begun.job
        lanes = lanes_of(settings, wanted.lanes)
        try:
            state = await _with_progress(store, begun.job, engine, lanes=lanes, failures=wanted.failures)
        except EngineFails as error:
            store.update(id, state=JobState.FAILED, note=str(error))
            raise EngineFails(f"{error} Run the same command again when it works.") from error
    return store.update(id, state=state, note="")


def _begin(store: Store, opened: Opened, wanted: Wanted, model: Model, id: str) -> Begun:
    begun = begin(
        store,
        opened,
        recipe_for(opened, model, wanted.wishes),
        id=id,
        output=str(wanted.output.resolve()),
        again=wanted.again,
    )
    if wanted.redo:
        store.redo(
            id,
            paragraphs=tuple(one for one in wanted.redo if one not in ("rejected", "quarantined")),
            rejected="rejected" in wanted.redo,
            quarantined="quarantined" in wanted.redo,
        )
        begun = replace(begun, job=store.update(id, state=JobState.RUNNING))
    return begun


async def _with_progress(store: Store, job: Job, engine: Engine, *, lanes: int, failures: int) -> JobState:
    counts = store.counts(job.id)
    console = error_console()
    with passages_progress(console) as bar:
        view = _View(
            bar,
            bar.add_task(job.name, total=counts.total, completed=counts.total - counts.waiting, so_far=""),
        )
        for what in ("edited", "unchanged", "rejected", "quarantined"):
            view.decisions[what] = getattr(counts, what)
        return await work_on(store, job, engine, lanes=lanes, failures=failures, watch=view.step)


class _View:
    """The bar: how far, how fast, and what became of the paragraphs so far."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self.bar = bar
        self.task = task
        self.decisions: Counter[str] = Counter()
        self.began = time.monotonic()
        self.done = 0

    def step(self, step: Step) -> None:
        """One more is finished, or given up."""
        result = step.row.result
        self.decisions[result.decision if result else "quarantined"] += 1
        self.done += 1
        rate = 60 * self.done / max(1e-3, time.monotonic() - self.began)
        shown = ", ".join(f"{count} {what}" for what, count in self.decisions.items() if count)
        self.bar.update(self.task, advance=1, so_far=f"· {rate:.0f} a minute · {shown}")
        if step.failure:
            self.bar.console.print(
                f"Given up for now: {step.row.planned.id}: {step.failure}", markup=False, soft_wrap=True
            )


def _finish(store: Store, job: Job, output: Path, *, seconds: float) -> Summary:
    """Write the book, unless it is there as this job wrote it."""
    if not (job.output_hash and output.exists() and hash_of(output) == job.output_hash and job.outcome):
        written = write_output(store, job, output)
        job = store.update(job.id, output_hash=written.sha256, outcome=written.to_json())
    return summary_of(store, job, seconds=seconds)


def _hash_written(store: Store, id: str) -> str:
    try:
        return store.job(id, owner="").output_hash
    except UnknownJob:
        return ""


def _refuse_missing(files: Files) -> None:
    for path in (files.source, files.mt):
        if path and not path.is_file():
            raise InputError(f"There is no file {path}.")


def _tell_what_is_new(store: Store, begun: Begun) -> None:
    counts = store.counts(begun.job.id)
    if begun.unpaired.count:
        say(f"No MT was found for {begun.unpaired.count} paragraphs of the source, among them:")
        for id, beginning in begun.unpaired.first[:5]:
            say(f"  {id}: {beginning}")
    if not begun.resumed:
        say(
            f"Job {begun.job.id}: {counts.total} paragraphs, {counts.skipped} of them to be left as they are."
        )
        return
    changed = begun.replanned
    if changed and (changed.new or changed.changed or changed.gone):
        say(
            f"The files or the settings have changed: {changed.kept} paragraphs stay as they are, "
            f"{changed.new + changed.changed} are to be done, {changed.gone} are gone."
        )
    say(
        f"Job {begun.job.id} goes on: {counts.total - counts.waiting} of {counts.total} paragraphs are finished."
    )


def _tell_how_to_go_on(store: Store, id: str) -> None:
    try:
        counts = store.counts(id)
    except UnknownJob:
        say("Stopped before anything was begun.")
        return
    say(
        f"Stopped. {counts.total - counts.waiting} of {counts.total} paragraphs are finished and saved. The same command goes on:\n"
        f"  {shlex.join(['ape', *sys.argv[1:]])}\n"
        f"What is there so far: ape book export {id} -o FILE"
    )
