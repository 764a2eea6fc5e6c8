"""What `ape book edit` does: begin or go on, show progress, write the book, and tell the truth at the end."""

from __future__ import annotations

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

from ape.adapters import CARD_FILE
from ape.adapters.directory import CONFIG_FILE, WEIGHTS_FILE
from ape.adapters.gguf import GGUF_FILE
from ape.cli.book_output import check_report_path, print_summary, summarise_job, write_job_report
from ape.cli.terminal import error_console, fetch_with_progress, passages_progress, print_line
from ape.errors import ApeError, Conflict, InputError, UnknownJob
from ape.files.hashing import hash_text
from ape.jobs.job import FileOptions, Job, JobRecipe, JobState
from ape.jobs.job_files import JobFiles, hash_file, job_id
from ape.jobs.output import JobOutput
from ape.jobs.store import JobStore
from ape.settings import Settings
from ape.text.languages import language_name

if TYPE_CHECKING:
    from ape.engines.protocol import Engine, Model
    from ape.jobs.planning import OpenedFiles, StartedJob
    from ape.jobs.worker import JobStep

EXIT_NEEDS_ATTENTION = 3
EXIT_INTERRUPTED = 130
REDO_STATES = ("rejected", "quarantined")


@dataclass(frozen=True, slots=True)
class EditBookRequest:
    """A book to be edited, as it was typed."""

    files: JobFiles
    output: Path
    wishes: JobRecipe
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
    def told(self) -> FileOptions:
        """What was said of the files."""
        return FileOptions(self.files.format, self.source_language, self.target_language)


def edit_book(wanted: EditBookRequest, settings: Settings, *, json_output: bool = False) -> int:
    """Edit the book, and give the exit code."""
    began = time.monotonic()
    for path in wanted.files.paths:
        if not path.is_file():
            raise InputError(f"There is no file {path}.")
    if wanted.report:
        check_report_path(wanted.report, keep=(*wanted.files.paths, wanted.output))
    with JobStore(settings.jobs_url) as store:
        key = _known_as(store, wanted)
        job = _finished(store, key, wanted, settings)
        if job:
            print_line(f"Job {key} is finished, and {wanted.output} is as it wrote it: nothing to do.")
        else:
            job = _edited(store, key, wanted, settings)
            if job is None:
                _tell_how_to_go_on(store, key)
                return EXIT_INTERRUPTED
            if job.state is not JobState.DONE:
                print_line(f"The job is {job.state}. `ape book edit` with the same files goes on with it.")
                return 1
            job = _written(store, job, wanted)
        summary = summarise_job(store, job, seconds=time.monotonic() - began)
        print_summary(summary, json_output=json_output)
        reported = _reported(store, job, wanted.report) if wanted.report else True
    return EXIT_NEEDS_ATTENTION if summary.needs_you or not reported else 0


def _reported(store: JobStore, job: Job, path: Path) -> bool:
    """Write the report. Where that fails, the book is finished all the same."""
    try:
        write_job_report(store, job, path)
    except ApeError as error:
        print_line(f"There is no report: {error} To try it again: ape book report {job.id} -o FILE")
        return False
    return True


def _known_as(store: JobStore, wanted: EditBookRequest) -> str:
    """The id of the job: by where its files are, or, where they were moved since, by what is in them."""
    key = job_id(wanted.files, wanted.output)
    jobs = {job.id: job for job in store.jobs(owner="")}
    if key in jobs:
        return key
    content = (hash_file(wanted.files.source), hash_file(wanted.files.mt))
    for job in jobs.values():
        moved = not Path(job.mt).exists() and Path(job.output).name == wanted.output.name
        if moved and (job.source_hash, job.mt_hash) == content:
            return job.id
    return key


def describe_engine(settings: Settings, use: str) -> str:
    """The engine and its model in the user's words, with the adapters as they are now."""
    adapters = [f"{name}@{_hash_of_adapter(place)}" for name, place in settings.adapters.items()]
    return " ".join(filter(None, [settings.engine, settings.url, settings.model, *adapters, use]))


def _hash_of_adapter(directory: Path) -> str:
    files = (directory / name for name in (CARD_FILE, CONFIG_FILE, WEIGHTS_FILE, GGUF_FILE))
    found = "".join(hash_file(path) for path in files if path.is_file())
    return hash_text(found, length=12)


def _finished(store: JobStore, id: str, wanted: EditBookRequest, settings: Settings) -> Job | None:
    """The job, where the same command has done all of it and its output is still there."""
    try:
        job = store.job(id, owner="")
    except UnknownJob:
        return None
    same = (
        job.state is JobState.DONE
        and not wanted.redo
        and job.engine == describe_engine(settings, wanted.use)
        and _wishes(job.recipe, wanted) == wanted.wishes
        and job.told == wanted.told.to_json()
        and (wanted.files.encoding or "") == job.encoding
    )
    hashes = (job.source_hash, job.mt_hash, job.output_hash)
    paths = (wanted.files.source, wanted.files.mt, wanted.output)
    if not (same and job.outcome and wanted.output.is_file()):
        return None
    return _moved(store, job, wanted) if hashes == tuple(hash_file(path) for path in paths) else None


def _moved(store: JobStore, job: Job, wanted: EditBookRequest) -> Job:
    """The job with its files where they are now."""
    source, mt = wanted.files.source, wanted.files.mt
    paths = (str(source.resolve()) if source else "", str(mt.resolve()), str(wanted.output.resolve()))
    if paths == (job.source, job.mt, job.output):
        return job
    outcome = replace(JobOutput.from_json(job.outcome), path=wanted.output)
    return store.update(job.id, source=paths[0], mt=paths[1], output=paths[2], outcome=outcome.to_json())


def _wishes(recipe: JobRecipe, wanted: EditBookRequest) -> JobRecipe:
    """What of a recipe the user chose."""
    return replace(recipe, model="", revision="", prompt="", source_language="", target_language="")


def _edited(store: JobStore, id: str, wanted: EditBookRequest, settings: Settings) -> Job | None:
    """The job after the work; None where somebody stopped it here."""
    import asyncio

    from ape.jobs.output import check_output_path
    from ape.jobs.planning import open_files

    opened = open_files(
        wanted.files, source_language=wanted.source_language, target_language=wanted.target_language
    )
    _refuse_other_suffix(opened, wanted.output)
    ours = _hash_written(store, id)
    check_output_path(wanted.output, inputs=wanted.files.paths, ours=ours, overwrite=wanted.overwrite)
    fetch_with_progress(settings)
    try:
        return asyncio.run(_edit(store, opened, wanted, settings, id))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return None


def _refuse_other_suffix(opened: OpenedFiles, output: Path) -> None:
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


def work_on_existing_job(
    store: JobStore, job: Job, settings: Settings, *, lanes: int | None, failures: int
) -> int:
    """Work on a job that was begun elsewhere, by the recipe it was begun with."""
    import asyncio

    if not store.counts(job.id).total:
        raise Conflict(
            f"The book of job {job.id} is still being read, or whoever read it was stopped. The `ape book edit` that "
            "began it goes on with it."
        )

    async def work() -> JobState:
        async with open_book_engine(settings, lanes=lanes) as engine:
            count = book_concurrency(settings, lanes)
            return await work_with_progress(store, job, engine, lanes=count, failures=failures)

    fetch_with_progress(settings)
    try:
        state = asyncio.run(work())
    except (KeyboardInterrupt, asyncio.CancelledError):
        _tell_how_to_go_on(store, job.id)
        return EXIT_INTERRUPTED
    counts = store.counts(job.id)
    print_line(
        f"{counts.total - counts.waiting} of {counts.total} paragraphs are finished; the job is {state}."
    )
    return 0 if state is JobState.DONE else 1


def book_concurrency(settings: Settings, lanes: int | None = None) -> int:
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
async def open_book_engine(settings: Settings, *, lanes: int | None = None) -> AsyncIterator[Engine]:
    """The engine for a book: with as many places as there are lanes, and repeatable where there is one."""
    from ape.engines.vllm.factory import open_registry

    count = book_concurrency(settings, lanes)
    in_flight = max(count, settings.in_flight or 0)
    changes = {"slots": min(count, 64), "in_flight": in_flight, "repeatable": count == 1}
    async with open_registry(settings.model_copy(update=changes), tell=print_line) as roster:
        yield roster


async def _edit(
    store: JobStore, opened: OpenedFiles, wanted: EditBookRequest, settings: Settings, id: str
) -> Job:
    import asyncio

    from ape.jobs.worker import EngineOutage

    async with open_book_engine(settings, lanes=wanted.lanes) as engine:
        async with engine.using(wanted.use) as model:
            named = describe_engine(settings, wanted.use)
            begun = await asyncio.to_thread(_begin, store, opened, wanted, model, id, named)
        _tell_what_is_new(store, begun)
        lanes = book_concurrency(settings, wanted.lanes)
        try:
            state = await work_with_progress(store, begun.job, engine, lanes=lanes, failures=wanted.failures)
        except EngineOutage as error:
            store.update(id, state=JobState.FAILED, note=str(error))
            raise EngineOutage(f"{error} Run the same command again when it works.") from error
    # Not done until the book is written: see `_written`.
    left = JobState.RUNNING if state is JobState.DONE else state
    return replace(store.update(id, state=left, note=""), state=state)


def _begin(
    store: JobStore, opened: OpenedFiles, wanted: EditBookRequest, model: Model, id: str, engine: str
) -> StartedJob:
    from ape.jobs.planning import complete_recipe, plan_job

    begun = plan_job(
        store,
        opened,
        complete_recipe(opened, model, wanted.wishes),
        id=id,
        output=str(wanted.output.resolve()),
        engine=engine,
        again=wanted.again,
    )
    if wanted.redo:
        store.redo(
            id,
            paragraphs=tuple(one for one in wanted.redo if one not in REDO_STATES),
            rejected="rejected" in wanted.redo,
            quarantined="quarantined" in wanted.redo,
        )
        begun = replace(begun, job=store.update(id, state=JobState.RUNNING))
    return begun


async def work_with_progress(
    store: JobStore, job: Job, engine: Engine, *, lanes: int, failures: int
) -> JobState:
    """Work on the job with a bar on a terminal."""
    from ape.jobs.worker import work_on_job

    counts = store.counts(job.id)
    finished = counts.total - counts.waiting
    with passages_progress(error_console()) as bar:
        view = _JobProgressBar(bar, bar.add_task(job.name, total=counts.total, completed=finished, so_far=""))
        for what in ("edited", "unchanged", "rejected", "quarantined"):
            view.decisions[what] = getattr(counts, what)
        return await work_on_job(store, job, engine, lanes=lanes, failures=failures, watch=view.step)


class _JobProgressBar:
    """The bar: how far, how fast, and what became of the paragraphs so far."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self.bar = bar
        self.task = task
        self.decisions: Counter[str] = Counter()
        self.began = time.monotonic()
        self.done = 0

    def step(self, step: JobStep) -> None:
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


def _written(store: JobStore, job: Job, wanted: EditBookRequest) -> Job:
    """The book in its place, unless something of somebody else's has come there meanwhile."""
    from ape.jobs.output import check_output_path, write_output

    ours = job.output_hash
    check_output_path(wanted.output, inputs=wanted.files.paths, ours=ours, overwrite=wanted.overwrite)
    made = write_output(store, job, wanted.output)
    return store.update(job.id, state=JobState.DONE, output_hash=made.sha256, outcome=made.to_json(), note="")


def _hash_written(store: JobStore, id: str) -> str:
    try:
        return store.job(id, owner="").output_hash
    except UnknownJob:
        return ""


def _tell_what_is_new(store: JobStore, begun: StartedJob) -> None:
    counts = store.counts(begun.job.id)
    recipe, missing = begun.job.recipe, begun.job.unpaired_source
    if missing.count:
        print_line(
            f"No MT was found for {missing.count:,} paragraphs of the source; the end of this tells which."
        )
    direction = f"{language_name(recipe.source_language)} to {language_name(recipe.target_language)}"
    if not begun.resumed:
        left_alone = f"{counts.skipped:,} of them to be left as they are"
        print_line(f"Job {begun.job.id}: {direction}, {counts.total:,} paragraphs, {left_alone}.")
        return
    changed = begun.replanned
    if changed and (changed.new or changed.changed or changed.gone):
        print_line(
            f"The files or the settings have changed: {changed.kept + changed.taken:,} paragraphs stay as they are, "
            f"{changed.new + changed.changed - changed.taken:,} are to be done, {changed.gone:,} are gone."
        )
    finished = counts.total - counts.waiting
    print_line(f"Job {begun.job.id} goes on: {finished:,} of {counts.total:,} paragraphs are finished.")


def _tell_how_to_go_on(store: JobStore, id: str) -> None:
    try:
        store.job(id)
    except UnknownJob:
        print_line("Stopped before anything was begun.")
        return
    counts = store.counts(id)
    finished = counts.done + counts.skipped
    print_line(
        f"Stopped. {finished:,} of {counts.total:,} paragraphs are finished and saved. The same command goes on:\n"
        f"  {shlex.join(['ape', *sys.argv[1:]])}\n"
        f"What is there so far: ape book export {id} -o FILE"
    )
