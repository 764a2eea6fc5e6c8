"""What `ape book edit` does: begin or go on, show progress, write the book, and tell the truth at the end."""

from __future__ import annotations

import hashlib
import shlex
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import Progress, TaskID

from ape.adapters import CARD
from ape.adapters.directory import CONFIG, WEIGHTS
from ape.adapters.gguf import GGUF
from ape.cli.book_show import refuse_page, show_summary, summary_of, write_job_report
from ape.cli.talk import error_console, fetch_with_progress, passages_progress, say
from ape.errors import ApeError, Conflict, InputError, UnknownJob
from ape.jobs.files import Files, hash_of, job_id
from ape.jobs.job import Job, JobState, Recipe, Told
from ape.jobs.output import Output
from ape.jobs.store import Store
from ape.languages import name_of
from ape.settings import Settings

if TYPE_CHECKING:
    from ape.engines.protocol import Engine, Model
    from ape.jobs.begin import Begun, Opened
    from ape.jobs.work import Step

NEEDS_YOU = 3
STOPPED = 130
REDO = ("rejected", "quarantined")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A book to be edited, as it was typed."""

    files: Files
    output: Path
    wishes: Recipe
    source_language: str | None = None
    target_language: str | None = None
    use: str = "default"
    lanes: int | None = None
    failures: int = 3
    redo: tuple[str, ...] = ()
    again: bool = False
    overwrite: bool = False
    report: Path | None = None

    @property
    def told(self) -> Told:
        """What was said of the files."""
        return Told(self.files.format, self.source_language, self.target_language)


def edit_book(wanted: Wanted, settings: Settings, *, json_output: bool = False) -> int:
    """Edit the book, and give the exit code."""
    began = time.monotonic()
    for path in wanted.files.paths:
        if not path.is_file():
            raise InputError(f"There is no file {path}.")
    if wanted.report:
        refuse_page(wanted.report, keep=(*wanted.files.paths, wanted.output))
    with Store(settings.jobs_url) as store:
        key = _known_as(store, wanted)
        job = _finished(store, key, wanted, settings)
        if job:
            say(f"Job {key} is finished, and {wanted.output} is as it wrote it: nothing to do.")
        else:
            job = _edited(store, key, wanted, settings)
            if job is None:
                _tell_how_to_go_on(store, key)
                return STOPPED
            if job.state is not JobState.DONE:
                say(f"The job is {job.state}. `ape book edit` with the same files goes on with it.")
                return 1
            job = _written(store, job, wanted)
        summary = summary_of(store, job, seconds=time.monotonic() - began)
        show_summary(summary, json_output=json_output)
        reported = _reported(store, job, wanted.report) if wanted.report else True
    return NEEDS_YOU if summary.needs_you or not reported else 0


def _reported(store: Store, job: Job, path: Path) -> bool:
    """Write the report. Where that fails, the book is finished all the same."""
    try:
        write_job_report(store, job, path)
    except ApeError as error:
        say(f"There is no report: {error} To try it again: ape book report {job.id} -o FILE")
        return False
    return True


def _known_as(store: Store, wanted: Wanted) -> str:
    """The id of the job: by where its files are, or, where they were moved since, by what is in them."""
    key = job_id(wanted.files, wanted.output)
    jobs = {job.id: job for job in store.jobs(owner="")}
    if key in jobs:
        return key
    content = (hash_of(wanted.files.source), hash_of(wanted.files.mt))
    for job in jobs.values():
        moved = not Path(job.mt).exists() and Path(job.output).name == wanted.output.name
        if moved and (job.source_hash, job.mt_hash) == content:
            return job.id
    return key


def engine_named(settings: Settings, use: str) -> str:
    """The engine and its model in the user's words, with the adapters as they are now."""
    adapters = [f"{name}@{_hash_of_adapter(place)}" for name, place in settings.adapters.items()]
    return " ".join(filter(None, [settings.engine, settings.url, settings.model, *adapters, use]))


def _hash_of_adapter(directory: Path) -> str:
    files = (directory / name for name in (CARD, CONFIG, WEIGHTS, GGUF))
    found = "".join(hash_of(path) for path in files if path.is_file())
    return hashlib.sha256(found.encode()).hexdigest()[:12]


def _finished(store: Store, id: str, wanted: Wanted, settings: Settings) -> Job | None:
    """The job, where the same command has done all of it and its output is still there."""
    try:
        job = store.job(id, owner="")
    except UnknownJob:
        return None
    same = (
        job.state is JobState.DONE
        and not wanted.redo
        and job.engine == engine_named(settings, wanted.use)
        and _wishes(job.recipe, wanted) == wanted.wishes
        and job.told == wanted.told.to_json()
        and (wanted.files.encoding or "") == job.encoding
    )
    hashes = (job.source_hash, job.mt_hash, job.output_hash)
    paths = (wanted.files.source, wanted.files.mt, wanted.output)
    if not (same and job.outcome and wanted.output.is_file()):
        return None
    return _moved(store, job, wanted) if hashes == tuple(hash_of(path) for path in paths) else None


def _moved(store: Store, job: Job, wanted: Wanted) -> Job:
    """The job with its files where they are now."""
    source, mt = wanted.files.source, wanted.files.mt
    paths = (str(source.resolve()) if source else "", str(mt.resolve()), str(wanted.output.resolve()))
    if paths == (job.source, job.mt, job.output):
        return job
    outcome = replace(Output.from_json(job.outcome), path=wanted.output)
    return store.update(job.id, source=paths[0], mt=paths[1], output=paths[2], outcome=outcome.to_json())


def _wishes(recipe: Recipe, wanted: Wanted) -> Recipe:
    """What of a recipe the user chose."""
    return replace(recipe, model="", revision="", prompt="", source_language="", target_language="")


def _edited(store: Store, id: str, wanted: Wanted, settings: Settings) -> Job | None:
    """The job after the work; None where somebody stopped it here."""
    import asyncio

    from ape.jobs.begin import open_files
    from ape.jobs.output import refuse_output

    opened = open_files(
        wanted.files, source_language=wanted.source_language, target_language=wanted.target_language
    )
    _refuse_other_suffix(opened, wanted.output)
    ours = _hash_written(store, id)
    refuse_output(wanted.output, inputs=wanted.files.paths, ours=ours, overwrite=wanted.overwrite)
    fetch_with_progress(settings)
    try:
        return asyncio.run(_edit(store, opened, wanted, settings, id))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return None


def _refuse_other_suffix(opened: Opened, output: Path) -> None:
    """A text file called .epub would be opened by nothing."""
    from ape.books.formats import FORMATS

    suffix, own = output.suffix.lower(), opened.files.mt.suffix.lower()
    known = {ending for one in FORMATS.values() for ending in one.suffixes}
    allowed = {own, *FORMATS[opened.mt.format.removeprefix("bilingual-")].suffixes}
    if suffix in known and suffix not in allowed:
        raise InputError(
            f"{output.name} would be a {FORMATS[opened.mt.format].title} file, as {opened.files.mt.name} is. Call it "
            f"*{own or min(allowed)}; `ape book export` writes other formats.",
            field="output",
        )


def help_with(store: Store, job: Job, settings: Settings, *, lanes: int | None, failures: int) -> int:
    """Work on a job that was begun elsewhere, by the recipe it was begun with."""
    import asyncio

    if not store.counts(job.id).total:
        raise Conflict(
            f"The book of job {job.id} is still being read, or whoever read it was stopped. The `ape book edit` that "
            "began it goes on with it."
        )

    async def work() -> JobState:
        async with opened_engine(settings, lanes=lanes) as engine:
            count = lanes_of(settings, lanes)
            return await with_progress(store, job, engine, lanes=count, failures=failures)

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
    interrupted and resumed would not be the same as one done in one go (measured: 8 of 28 paragraphs with four in
    flight).
    """
    if wanted := lanes or settings.book_lanes:
        return wanted
    if settings.engine == "embedded":
        return 1
    return settings.places


@asynccontextmanager
async def opened_engine(settings: Settings, *, lanes: int | None = None) -> AsyncIterator[Engine]:
    """The engine for a book: with as many places as there are lanes, and repeatable where there is one."""
    from serve.open import open_roster

    count = lanes_of(settings, lanes)
    in_flight = max(count, settings.in_flight or 0)
    changes = {"slots": min(count, 64), "in_flight": in_flight, "repeatable": count == 1}
    async with open_roster(settings.model_copy(update=changes), tell=say) as roster:
        yield roster


async def _edit(store: Store, opened: Opened, wanted: Wanted, settings: Settings, id: str) -> Job:
    import asyncio

    from ape.jobs.work import EngineFails

    async with opened_engine(settings, lanes=wanted.lanes) as engine:
        async with engine.using(wanted.use) as model:
            named = engine_named(settings, wanted.use)
            begun = await asyncio.to_thread(_begin, store, opened, wanted, model, id, named)
        _tell_what_is_new(store, begun)
        lanes = lanes_of(settings, wanted.lanes)
        try:
            state = await with_progress(store, begun.job, engine, lanes=lanes, failures=wanted.failures)
        except EngineFails as error:
            store.update(id, state=JobState.FAILED, note=str(error))
            raise EngineFails(f"{error} Run the same command again when it works.") from error
    # Not done until the book is written: see `_written`.
    left = JobState.RUNNING if state is JobState.DONE else state
    return replace(store.update(id, state=left, note=""), state=state)


def _begin(store: Store, opened: Opened, wanted: Wanted, model: Model, id: str, engine: str) -> Begun:
    from ape.jobs.begin import begin, recipe_for

    begun = begin(
        store,
        opened,
        recipe_for(opened, model, wanted.wishes),
        id=id,
        output=str(wanted.output.resolve()),
        engine=engine,
        again=wanted.again,
    )
    if wanted.redo:
        store.redo(
            id,
            paragraphs=tuple(one for one in wanted.redo if one not in REDO),
            rejected="rejected" in wanted.redo,
            quarantined="quarantined" in wanted.redo,
        )
        begun = replace(begun, job=store.update(id, state=JobState.RUNNING))
    return begun


async def with_progress(store: Store, job: Job, engine: Engine, *, lanes: int, failures: int) -> JobState:
    """Work on the job with a bar on a terminal."""
    from ape.jobs.work import work_on

    counts = store.counts(job.id)
    finished = counts.total - counts.waiting
    with passages_progress(error_console()) as bar:
        view = _View(bar, bar.add_task(job.name, total=counts.total, completed=finished, so_far=""))
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
            message = f"Given up for now: {step.row.planned.id}: {step.failure}"
            self.bar.console.print(message, markup=False, soft_wrap=True)


def _written(store: Store, job: Job, wanted: Wanted) -> Job:
    """The book in its place, unless something of somebody else's has come there meanwhile."""
    from ape.jobs.output import refuse_output, write_output

    ours = job.output_hash
    refuse_output(wanted.output, inputs=wanted.files.paths, ours=ours, overwrite=wanted.overwrite)
    made = write_output(store, job, wanted.output)
    return store.update(job.id, state=JobState.DONE, output_hash=made.sha256, outcome=made.to_json(), note="")


def _hash_written(store: Store, id: str) -> str:
    try:
        return store.job(id, owner="").output_hash
    except UnknownJob:
        return ""


def _tell_what_is_new(store: Store, begun: Begun) -> None:
    counts = store.counts(begun.job.id)
    recipe, missing = begun.job.recipe, begun.job.unpaired_source
    if missing.count:
        say(f"No MT was found for {missing.count:,} paragraphs of the source; the end of this tells which.")
    direction = f"{name_of(recipe.source_language)} to {name_of(recipe.target_language)}"
    if not begun.resumed:
        left_alone = f"{counts.skipped:,} of them to be left as they are"
        say(f"Job {begun.job.id}: {direction}, {counts.total:,} paragraphs, {left_alone}.")
        return
    changed = begun.replanned
    if changed and (changed.new or changed.changed or changed.gone):
        say(
            f"The files or the settings have changed: {changed.kept + changed.taken:,} paragraphs stay as they are, "
            f"{changed.new + changed.changed - changed.taken:,} are to be done, {changed.gone:,} are gone."
        )
    finished = counts.total - counts.waiting
    say(f"Job {begun.job.id} goes on: {finished:,} of {counts.total:,} paragraphs are finished.")


def _tell_how_to_go_on(store: Store, id: str) -> None:
    try:
        store.job(id)
    except UnknownJob:
        say("Stopped before anything was begun.")
        return
    counts = store.counts(id)
    finished = counts.done + counts.skipped
    say(
        f"Stopped. {finished:,} of {counts.total:,} paragraphs are finished and saved. The same command goes on:\n"
        f"  {shlex.join(['ape', *sys.argv[1:]])}\n"
        f"What is there so far: ape book export {id} -o FILE"
    )
