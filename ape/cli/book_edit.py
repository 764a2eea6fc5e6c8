"""`ape book edit` and `ape book work`: run a job with progress bars, and print the summary."""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ape.cli.book_output import print_summary
from ape.cli.exit_codes import EXIT_INTERRUPTED, EXIT_NEEDS_ATTENTION
from ape.cli.job_progress import job_progress
from ape.cli.model_caveats import ignored_wishes_caveat, model_caveats
from ape.cli.terminal import fetch_with_progress, print_line
from ape.errors import ApeError, Conflict, UnknownJob
from ape.jobs.book_names import BookNames
from ape.jobs.job import Job, JobState
from ape.jobs.run import (
    EditBookRequest,
    begin_job,
    book_concurrency,
    describe_engine,
    find_finished_job,
    find_job_id,
    finish_job,
    open_book_engine,
    open_request,
    run_job,
)
from ape.jobs.store import JobStore
from ape.jobs.stretch_editor import EngineOutage
from ape.jobs.summary import summarise_job
from ape.jobs.worker import work_on_job
from ape.reports.job_report import check_report_path, write_job_report
from ape.settings import Settings
from ape.text.languages import language_name

if TYPE_CHECKING:
    from ape.jobs.planning import OpenedFiles, StartedJob


def edit_with_progress(
    request: EditBookRequest,
    settings: Settings,
    *,
    concurrency: int | None,
    max_failures: int,
    report: Path | None = None,
    json_output: bool = False,
) -> int:
    """Edit the book with progress on stderr, print the summary, and return the exit code."""
    began = time.monotonic()
    if report:
        check_report_path(report, keep=(*request.files.paths, request.output))
    with JobStore(settings.jobs_url) as store:
        key = find_job_id(store, request)
        job = find_finished_job(
            store, key, request, describe_engine(settings, request.model, use_model=request.use_model)
        )
        if job:
            print_line(f"Job {key} is finished, and {request.output} is unchanged: nothing to do.")
        else:
            opened = open_request(store, key, request)
            if request.use_model:
                fetch_with_progress(settings)
            try:
                job = asyncio.run(_run(store, opened, request, settings, key, concurrency, max_failures))
            except (KeyboardInterrupt, asyncio.CancelledError):
                _print_how_to_resume(store, key)
                return EXIT_INTERRUPTED
            if job.state is not JobState.DONE:
                print_line(f"The job is {job.state}. Run `ape book edit` with the same files to resume it.")
                return 1
            job = finish_job(store, job, request)
        summary = summarise_job(store, job, seconds=time.monotonic() - began)
        print_summary(summary, json_output=json_output)
        reported = _write_report(store, job, report) if report else True
    return EXIT_NEEDS_ATTENTION if summary.needs_attention or not reported else 0


async def _run(
    store: JobStore,
    opened: OpenedFiles,
    request: EditBookRequest,
    settings: Settings,
    id: str,
    concurrency: int | None,
    max_failures: int,
) -> Job:
    async with open_book_engine(
        settings, concurrency=concurrency, report=print_line, use_model=request.use_model
    ) as engine:
        try:
            started = await begin_job(store, opened, request, engine, settings, id=id)
        except Conflict as error:
            raise Conflict(f"{error} (--again restarts it.)") if error.field == "restart" else error from None
        _print_start(store, started)
        if request.use_model:
            async with engine.using(request.model) as model:
                recipe = started.job.recipe
                for caveat in model_caveats(
                    model.name,
                    model.languages,
                    source_language=recipe.source_language,
                    target_language=recipe.target_language,
                ):
                    print_line(caveat)
                wishes = {"glossary": bool(recipe.glossary), "instructions": bool(recipe.instructions)}
                if caveat := ignored_wishes_caveat(model, **wishes):
                    print_line(caveat)
        count = book_concurrency(settings, concurrency)
        with job_progress(store, started.job) as listen:
            try:
                return await run_job(
                    store, started.job, engine, concurrency=count, max_failures=max_failures, listen=listen
                )
            except EngineOutage as error:
                raise EngineOutage(f"{error} Run the same command again when it works.") from error


def work_on_existing_job(
    store: JobStore, job: Job, settings: Settings, *, concurrency: int | None, max_failures: int
) -> int:
    """Work on a job that was begun elsewhere, with its recipe, and return the exit code."""
    if not store.counts(job.id).total:
        raise Conflict(
            f"The book of job {job.id} is still being read, or reading was interrupted. Run its `ape book edit` again."
        )

    async def work() -> JobState:
        async with open_book_engine(settings, concurrency=concurrency, report=print_line) as engine:
            count = book_concurrency(settings, concurrency)
            with job_progress(store, job) as listen:
                return await work_on_job(
                    store, job, engine, concurrency=count, max_failures=max_failures, listen=listen
                )

    fetch_with_progress(settings)
    try:
        state = asyncio.run(work())
    except (KeyboardInterrupt, asyncio.CancelledError):
        _print_how_to_resume(store, job.id)
        return EXIT_INTERRUPTED
    counts = store.counts(job.id)
    print_line(f"{counts.total - counts.waiting} of {counts.total} paragraphs are finished; the job is {state}.")
    return 0 if state is JobState.DONE else 1


def _write_report(store: JobStore, job: Job, path: Path) -> bool:
    """Write the report; print a failure, because the book itself is finished."""
    try:
        write_job_report(store, job, path)
    except ApeError as error:
        print_line(f"The report was not written: {error} Try again: ape book report {job.id} -o FILE")
        return False
    return True


def _print_start(store: JobStore, started: StartedJob) -> None:
    counts = store.counts(started.job.id)
    recipe, missing = started.job.recipe, started.job.unpaired_source
    if missing.count:
        print_line(f"No MT was found for {missing.count:,} paragraphs of the source; the summary lists them.")
    print_line(f"Model: {recipe.model}")
    names = BookNames.from_json(started.job.names)
    for note in names.ledger.notes if names else ():
        print_line(note)
    direction = f"{language_name(recipe.source_language)} to {language_name(recipe.target_language)}"
    if not started.resumed:
        skipped = f"{counts.skipped:,} of them skipped"
        print_line(f"Job {started.job.id}: {direction}, {counts.total:,} paragraphs, {skipped}.")
        return
    changed = started.replanned
    if changed and (changed.new or changed.changed or changed.removed):
        print_line(
            f"The files or the settings have changed: {changed.kept + changed.reused:,} paragraphs are kept, "
            f"{changed.new + changed.changed - changed.reused:,} are waiting, {changed.removed:,} were removed."
        )
    finished = counts.total - counts.waiting
    print_line(f"Job {started.job.id} resumes: {finished:,} of {counts.total:,} paragraphs are finished.")


def _print_how_to_resume(store: JobStore, id: str) -> None:
    try:
        store.job(id)
    except UnknownJob:
        print_line("Stopped before the job began.")
        return
    counts = store.counts(id)
    finished = counts.done + counts.skipped
    print_line(
        f"Stopped. {finished:,} of {counts.total:,} paragraphs are finished and saved. Resume with the same command:\n"
        f"  {shlex.join(['ape', *sys.argv[1:]])}\n"
        f"Export the results so far: ape book export {id} -o FILE"
    )
