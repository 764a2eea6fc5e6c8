"""Run a book: begin or resume its job, post-edit the paragraphs, write the output.

The command line, the service and comparisons take these steps one by one; `edit_book` takes all of them.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ape.adapters import CARD_FILE
from ape.adapters.directory import CONFIG_FILE, WEIGHTS_FILE
from ape.adapters.gguf import GGUF_FILE
from ape.engines.factory import fetch_model, open_engine
from ape.engines.protocol import Engine
from ape.errors import Conflict, InputError, UnknownJob
from ape.files.hashing import hash_input, hash_text
from ape.jobs.book_names import NAMES_ONLY
from ape.jobs.job import FileOptions, Job, JobRecipe, JobState
from ape.jobs.job_files import JobFiles, job_id
from ape.jobs.names_only import NamesOnlyEngine
from ape.jobs.names_update import NamesChoice
from ape.jobs.output import JobOutput, check_output_path, check_output_suffix, write_output
from ape.jobs.planning import OpenedFiles, StartedJob, complete_recipe, open_files, plan_job
from ape.jobs.reconnection import call_when_reachable
from ape.jobs.store import JobStore
from ape.jobs.stretch_editor import EngineOutage
from ape.jobs.summary import BookSummary, summarise_job
from ape.jobs.worker import JobListener, work_on_job
from ape.passage.options import DEFAULT_MODEL_NAME, check_bounds
from ape.settings import MAX_EMBEDDED_CONCURRENCY, Settings, load_settings
from ape.text.languages import language_tag

log = logging.getLogger("ape.jobs")


@dataclass(frozen=True, slots=True)
class EditBookRequest:
    """A book to post-edit. `recipe` holds the user's choices; model and languages are filled in when the job begins.

    `redo` names paragraphs to do again: ids, "rejected" or "quarantined". `restart` redoes all of a job under a new
    recipe. `overwrite` allows replacing an output that the job did not write. `name` is by default that of the MT's
    file, and `owner` is as in `Job`. `names` are those to repair; without a choice a job keeps its own. If no model is
    used, the names are all that is repaired.
    """

    files: JobFiles
    output: Path
    recipe: JobRecipe = field(default_factory=JobRecipe)
    source_language: str | None = None
    target_language: str | None = None
    model: str = DEFAULT_MODEL_NAME
    redo: tuple[str, ...] = ()
    restart: bool = False
    overwrite: bool = False
    name: str = ""
    owner: str = ""
    names: NamesChoice | None = None
    use_model: bool = True

    @property
    def file_options(self) -> FileOptions:
        """How to open the files."""
        return FileOptions(self.files.format, self.source_language, self.target_language)


def edit_book(
    source: str | Path,
    mt: str | Path | None,
    output: str | Path,
    *,
    source_language: str | None = None,
    target_language: str | None = None,
    settings: Settings | None = None,
    model: str = DEFAULT_MODEL_NAME,
    glossary: Mapping[str, str] | None = None,
    instructions: str = "",
    recipe: JobRecipe | None = None,
    redo: Sequence[str] = (),
    restart: bool = False,
    overwrite: bool = False,
    concurrency: int | None = None,
    max_failures: int = 3,
    names: str | Path | None = None,
    use_model: bool = True,
    listen: JobListener = lambda _: None,
) -> BookSummary:
    """Post-edit a book file and write it to `output` in the format of the MT. Calling it again resumes the job.

    `mt` is None where `source` is a bilingual file. Languages are detected where they are not given. `recipe` holds
    sampling and context; `glossary` and `instructions` are added to it. `names` is "auto", "none" or
    a file of names, to be repaired before the model edits; without `use_model` nothing else is. `listen` is called
    after each paragraph. Works inside a running event loop too, as in notebooks.
    """
    began = time.monotonic()
    configured = settings or load_settings()
    recipe = recipe or JobRecipe()
    request = EditBookRequest(
        files=JobFiles(Path(source), Path(mt)) if mt else JobFiles(None, Path(source)),
        output=Path(output),
        recipe=replace(
            recipe,
            glossary=recipe.glossary + tuple(sorted((glossary or {}).items())),
            instructions=instructions or recipe.instructions,
        ),
        source_language=source_language and language_tag(source_language),
        target_language=target_language and language_tag(target_language),
        model=model,
        redo=tuple(redo),
        restart=restart,
        overwrite=overwrite,
        names=NamesChoice.parse(str(names)) if names else None,
        use_model=use_model,
    )
    check_bounds(request.recipe)
    with JobStore(configured.jobs_url) as store:

        async def run() -> Job:
            count = book_concurrency(configured, concurrency)
            async with open_book_engine(configured, concurrency=concurrency, use_model=use_model) as engine:
                begun = (await begin_job(store, opened, request, engine, configured, id=key)).job
                return await run_job(store, begun, engine, concurrency=count, max_failures=max_failures, listen=listen)

        key = find_job_id(store, request)
        job = find_finished_job(store, key, request, describe_engine(configured, model, use_model=use_model))
        if job is None:
            opened = open_request(store, key, request)
            if use_model:
                fetch_model(configured)
            job = finish_job(store, _run_coroutine(run()), request)
        return summarise_job(store, job, seconds=time.monotonic() - began)


def _run_coroutine(work: Coroutine[Any, Any, Job]) -> Job:
    """Run a coroutine to its end: in a thread where this one has a running event loop. Ctrl-C cancels it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    tasks: list[asyncio.Task[Job]] = []

    async def start() -> Job:
        tasks.append(asyncio.create_task(work))
        return await tasks[0]

    with ThreadPoolExecutor(max_workers=1) as thread:
        future = thread.submit(asyncio.run, start())
        try:
            return future.result()
        except BaseException:
            for task in tasks:
                if not task.done():
                    task.get_loop().call_soon_threadsafe(task.cancel)
            raise


# Begin.


def find_job_id(store: JobStore, request: EditBookRequest) -> str:
    """The id of the request's job: by its paths, or by content where the files of a known job were moved."""
    for path in request.files.paths:
        if not path.is_file():
            raise InputError(f"There is no file {path}.", field="path")
    key = job_id(request.files, request.output)
    jobs = {job.id: job for job in store.jobs(owner="", with_names=False)}
    if key in jobs:
        return key
    content = (hash_input(request.files.source), hash_input(request.files.mt))
    for job in jobs.values():
        moved = not Path(job.mt).exists() and Path(job.output).name == request.output.name
        if moved and (job.source_hash, job.mt_hash) == content:
            return job.id
    return key


def find_finished_job(store: JobStore, id: str, request: EditBookRequest, engine: str) -> Job | None:
    """The job where an equal request has finished it and its output is unchanged. Moved files are noted in the job."""
    try:
        job = store.job(id, owner="")
    except UnknownJob:
        return None
    same = (
        job.is_finished_by(engine, request.recipe)
        and not request.redo
        and job.file_options_json == request.file_options.to_json()
        and (request.files.encoding or "") == job.encoding
        and (request.names is None or request.names.is_of(job))
    )
    if not (same and job.outcome and request.output.is_file()):
        return None
    paths = (request.files.source, request.files.mt, request.output)
    if (job.source_hash, job.mt_hash, job.output_hash) != tuple(map(hash_input, paths)):
        return None
    source, mt, output = (str(path.resolve()) if path else "" for path in paths)
    if (source, mt, output) == (job.source, job.mt, job.output):
        return job
    written = replace(JobOutput.from_json(job.outcome), path=request.output)
    return store.update(job.id, source=source, mt=mt, output=output, outcome=written.to_json())


def open_request(store: JobStore, id: str, request: EditBookRequest) -> OpenedFiles:
    """Open the files and check that the output may be written, before a model is loaded."""
    opened = open_files(request.files, source_language=request.source_language, target_language=request.target_language)
    check_output_suffix(request.output, opened.mt)
    try:
        known_hash = store.job(id, owner="").output_hash
    except UnknownJob:
        known_hash = ""
    check_output_path(request.output, inputs=request.files.paths, known_hash=known_hash, overwrite=request.overwrite)
    return opened


async def begin_job(
    store: JobStore,
    opened: OpenedFiles,
    request: EditBookRequest,
    engine: Engine,
    settings: Settings | None,
    *,
    id: str,
    run_in_thread: Callable[..., Awaitable[StartedJob]] = asyncio.to_thread,
) -> StartedJob:
    """Plan the request's job with the model that the engine serves, or resume it.

    Without settings the job records the model alone as its engine: a service keeps its engine while it runs.
    """
    languages = {"source_language": opened.source_language, "target_language": opened.target_language}
    async with engine.using(request.model) as model:
        recipe = complete_recipe(request.recipe, model, **languages)
    described = describe_engine(settings, request.model, use_model=request.use_model) if settings else request.model
    return await run_in_thread(
        plan_job,
        store,
        opened,
        recipe,
        id=id,
        output=str(request.output.resolve()),
        name=request.name,
        owner=request.owner,
        engine=described,
        restart=request.restart,
        redo=request.redo,
        names=request.names,
    )


# Work.


async def run_job(
    store: JobStore,
    job: Job,
    engine: Engine,
    *,
    concurrency: int,
    max_failures: int = 3,
    listen: JobListener = lambda _: None,
) -> Job:
    """Work until nothing waits or the job is stopped. The job returned has the state it was left in.

    In the store a finished job stays running until its output is written. Where the model server fails, the job is
    marked as failed with the reason, and EngineOutage is raised.
    """
    try:
        state = await work_on_job(store, job, engine, concurrency=concurrency, max_failures=max_failures, listen=listen)
    except EngineOutage as error:
        store.update(job.id, state=JobState.FAILED, note=str(error))
        raise
    stored = JobState.RUNNING if state is JobState.DONE else state
    return replace(call_when_reachable(lambda: store.update(job.id, state=stored, note="")), state=state)


def describe_engine(settings: Settings, model: str, *, use_model: bool = True) -> str:
    """The engine and model as configured, with content hashes of the adapters: equal text means equal results."""
    if not use_model:
        return NAMES_ONLY
    adapters = [f"{name}@{_adapter_hash(directory)}" for name, directory in settings.adapters.items()]
    return " ".join(filter(None, [settings.engine, settings.url, settings.model, *adapters, model]))


def _adapter_hash(directory: Path) -> str:
    files = (directory / name for name in (CARD_FILE, CONFIG_FILE, WEIGHTS_FILE, GGUF_FILE))
    found = "".join(hash_input(path) for path in files if path.is_file())
    return hash_text(found, length=12)


def book_concurrency(settings: Settings, concurrency: int | None = None) -> int:
    """How many paragraphs to post-edit at once.

    One on the embedded engine: llama.cpp rounds differently with every mixture of passages in a batch, so a resumed
    book would differ from one done in one go (measured: 8 of 28 paragraphs with a concurrency of four).
    """
    if chosen := concurrency or settings.book_concurrency:
        return chosen
    return 1 if settings.engine == "embedded" else settings.concurrency


@asynccontextmanager
async def open_book_engine(
    settings: Settings,
    *,
    concurrency: int | None = None,
    report: Callable[[str], None] = log.info,
    use_model: bool = True,
) -> AsyncIterator[Engine]:
    """Open the engine for that concurrency; with a concurrency of one its results are repeatable."""
    if not use_model:
        yield NamesOnlyEngine()
        return
    count = book_concurrency(settings, concurrency)
    is_embedded = settings.engine == "embedded"
    limit = min(count, MAX_EMBEDDED_CONCURRENCY) if is_embedded else max(count, settings.concurrency)
    changes = {"concurrency": limit, "repeatable": count == 1}
    async with open_engine(settings.model_copy(update=changes), log_line=report) as registry:
        yield registry


# Finish.


def finish_job(store: JobStore, job: Job, request: EditBookRequest) -> Job:
    """Write the output, unless another file has taken its place, and mark the job as done.

    Raises Conflict where the job was paused or cancelled, or where paragraphs wait again.
    """
    if job.state is JobState.DONE:
        check_output_path(
            request.output, inputs=request.files.paths, known_hash=job.output_hash, overwrite=request.overwrite
        )
        written = call_when_reachable(lambda: write_output(store, job, request.output, record=True))
        done = call_when_reachable(lambda: mark_done(store, job.id, written))
        if done:
            return done
        job = store.job(job.id)
    raise Conflict(f"The job {job.id} is {job.state}. Run it again to resume it.")


def mark_done(store: JobStore, id: str, output: JobOutput) -> Job | None:
    """Mark the job as done with that output; None where it was stopped or has paragraphs to redo by now."""
    if store.job(id).state is not JobState.RUNNING or store.counts(id).waiting:
        return None
    return store.update(id, state=JobState.DONE, note="", output_hash=output.sha256, outcome=output.to_json())
