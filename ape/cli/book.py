"""`ape book`: estimate, post-edit, inspect and export books."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from ape.books.formats import ExportFormat, ReviewExport
from ape.cli.command import CommandGroup
from ape.cli.flags import (
    ContextFlag,
    EngineFlags,
    GlossaryFlag,
    InstructionsFlag,
    JsonFlag,
    MaxAttemptsFlag,
    SourceLanguageFlag,
    TargetLanguageFlag,
    expand_flag_groups,
    parse_glossary_flags,
)
from ape.errors import InputError
from ape.passage.options import DEFAULT_CONTEXT_SIZE, DEFAULT_OPTIONS, SharedOptions

if TYPE_CHECKING:
    from ape.jobs.job import Job
    from ape.jobs.job_files import JobFiles
    from ape.jobs.store import JobStore
    from ape.settings import Settings

app = CommandGroup()

SourceArgument = Annotated[Path, typer.Argument(metavar="SRC", help="Source book, or one bilingual file.")]
MtArgument = Annotated[
    Path | None, typer.Argument(metavar="MT", help="Machine translation of the book; none with a bilingual file.")
]
JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="Job id, or the output file of the job.")]
EncodingFlag = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of the files, e.g. gb18030; detected by default.")
]
FormatFlag = Annotated[
    str | None, typer.Option("--format", help="Format of the MT, e.g. bilingual-epub; detected by default.")
]
FailuresFlag = Annotated[
    int, typer.Option("--failures", min=1, help="How many times a paragraph may fail before it is quarantined.")
]
NamesFlag = Annotated[
    str | None, typer.Option("--names", help="Names to repair before the model edits: auto, none, or a file of names.")
]
UseFlag = Annotated[str, typer.Option("--use", help="Adapter or alias to use instead of the engine's default model.")]


# `book` is the format that the job's file came in.
BookExportFormat = StrEnum("BookExportFormat", ["book", *get_args(ExportFormat), *get_args(ReviewExport)])  # type: ignore[misc]


@app.command()
@expand_flag_groups
def plan(
    source: SourceArgument,
    mt: MtArgument = None,
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    encoding: EncodingFlag = None,
    format: FormatFlag = None,
    context: ContextFlag = DEFAULT_CONTEXT_SIZE,
    max_attempts: MaxAttemptsFlag = DEFAULT_OPTIONS.max_attempts,
    *,
    engine_flags: EngineFlags,
    use: UseFlag = "default",
    json_output: JsonFlag = False,
) -> None:
    """Estimate tokens, time and cost of editing a book, chapter by chapter."""
    from ape.cli.book_plan import print_plan
    from ape.cli.model_caveats import model_caveats
    from ape.cli.terminal import print_line
    from ape.engines.model_selection import configured_languages, configured_model
    from ape.jobs.job_estimate import estimate_job
    from ape.jobs.planning import open_files

    settings = engine_flags.settings()
    opened = open_files(
        _files(source, mt, encoding, format),
        source_language=_tag(source_language),
        target_language=_tag(target_language),
    )
    estimate, unpaired = estimate_job(opened, settings, use=use, context=context, max_attempts=max_attempts)
    model = configured_model(settings, use)
    print_plan(opened, estimate, unpaired, model=model, json_output=json_output)
    for caveat in model_caveats(
        model,
        configured_languages(settings, model),
        source_language=opened.source_language,
        target_language=opened.target_language,
    ):
        print_line(caveat)


@app.command()
@expand_flag_groups
def edit(
    source: SourceArgument,
    mt: MtArgument = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Output file, in the format of the MT.")] = ...,  # type: ignore[assignment]
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    encoding: EncodingFlag = None,
    format: FormatFlag = None,
    glossary: GlossaryFlag = None,
    instructions: InstructionsFlag = "",
    context: ContextFlag = DEFAULT_CONTEXT_SIZE,
    *,
    options: SharedOptions,
    concurrency: Annotated[
        int | None,
        typer.Option("--concurrency", min=1, help="Paragraphs edited concurrently; the engine's capacity by default."),
    ] = None,
    failures: FailuresFlag = 3,
    redo: Annotated[
        list[str] | None,
        typer.Option("--redo", help="Paragraphs to edit again: quarantined, rejected, or an id; repeatable."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Edit all paragraphs again with new settings.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an output file that this job did not write.")
    ] = False,
    report: Annotated[Path | None, typer.Option("--html", help="Write the HTML report to this file too.")] = None,
    engine_flags: EngineFlags,
    use: UseFlag = "default",
    names: NamesFlag = None,
    no_model: Annotated[bool, typer.Option("--no-model", help="Repair the names alone, without a model.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Post-edit a book into OUTPUT. Run the same command again to resume.

    The exit code is 3 if the book is finished but needs attention: quarantined
    paragraphs, source text left in the output, or source without MT.
    """
    from ape.cli.book_edit import edit_with_progress
    from ape.jobs.job import JobRecipe
    from ape.jobs.names_update import NamesChoice
    from ape.jobs.run import EditBookRequest
    from ape.passage.options import check_bounds, option_values

    recipe = JobRecipe(
        **option_values(options),
        context=context,
        glossary=tuple(sorted(parse_glossary_flags(glossary).items())),
        instructions=instructions,
    )
    check_bounds(recipe)
    raise typer.Exit(
        edit_with_progress(
            EditBookRequest(
                files=_files(source, mt, encoding, format),
                output=output,
                source_language=_tag(source_language),
                target_language=_tag(target_language),
                recipe=recipe,
                model=use,
                redo=tuple(redo or ()),
                restart=again,
                overwrite=overwrite,
                names=NamesChoice.parse(names or "auto") if names or no_model else None,
                use_model=not no_model,
            ),
            engine_flags.settings(),
            concurrency=concurrency,
            max_failures=failures,
            report=report,
            json_output=json_output,
        )
    )


@app.command()
def names(
    source: SourceArgument,
    mt: MtArgument = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write: .csv, .tsv, .json, .txt (source->target) or .tbx."),
    ] = None,
    names: Annotated[
        Path | None, typer.Option("--names", help="File of names that are known already; they are kept.")
    ] = None,
    only: Annotated[bool, typer.Option("--only", help="Look for the names of --names alone.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Page to write: each name with its renderings in their sentences.")
    ] = None,
    name_format: Annotated[
        str | None,
        typer.Option("--to", help="Format of the file: csv, tsv, json, glossary-json, list or tbx; by its suffix."),
    ] = None,
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    encoding: EncodingFlag = None,
    format: FormatFlag = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """List the names of a book, their renderings and genders, without a model.

    Correct the file and give it to `ape book edit --names`.
    """
    from ape.cli.book_names import show_names

    if only and not names:
        raise InputError("--only needs a file of names. Give it with --names.")
    raise typer.Exit(
        show_names(
            _files(source, mt, encoding, format),
            source_language=_tag(source_language),
            target_language=_tag(target_language),
            known=names,
            only_known=only,
            output=output,
            format=name_format,
            page=html,
            overwrite=overwrite,
            json_output=json_output,
        )
    )


@app.command()
@expand_flag_groups
def work(
    job: JobArgument,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=1, help="Paragraphs edited concurrently.")
    ] = None,
    failures: FailuresFlag = 3,
    *,
    engine_flags: EngineFlags,
) -> None:
    """Work on a job that was started elsewhere; needs the job store, not the files."""
    from ape.cli.book_edit import work_on_existing_job

    settings = engine_flags.settings()
    with open_job_store(settings) as store:
        raise typer.Exit(
            work_on_existing_job(store, find_job(store, job), settings, concurrency=concurrency, max_failures=failures)
        )


@app.command()
def status(
    job: Annotated[str | None, typer.Argument(metavar="JOB", help="Job id; all jobs by default.")] = None,
    json_output: JsonFlag = False,
) -> None:
    """Show the status of all jobs, or of one job by chapter."""
    from ape.cli.book_output import print_job, print_jobs

    with open_job_store() as store:
        if job is None:
            print_jobs(store, json_output=json_output)
        else:
            print_job(store, find_job(store, job), json_output=json_output)


@app.command()
def report(
    job: JobArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="HTML file to write; OUTPUT.html by default.")
    ] = None,
) -> None:
    """Write an HTML report: texts side by side, edits, guards and counts."""
    from ape.reports.job_report import check_report_path, write_job_report

    with open_job_store() as store:
        found = find_job(store, job)
        place = output or Path(f"{found.output or found.name}.html")
        check_report_path(place, keep=tuple(Path(file) for file in (found.source, found.mt, found.output) if file))
        write_job_report(store, found, place)
    typer.echo(place)


@app.command()
def export(
    job: JobArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write; - for stdout.")],
    format: Annotated[
        BookExportFormat | None,
        typer.Option("--to", help="Export format, by default that of the suffix; `book` is that of the original."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Export the results so far, or what a review made of them: tracked changes in Word, side by side, and more."""
    from ape.cli.book_output import export_job

    with open_job_store() as store:
        export_job(store, find_job(store, job), output, format=format, overwrite=overwrite)


@app.command()
def review(
    job: JobArgument,
    port: Annotated[int, typer.Option(help="Port on this machine; 0 for any free port.")] = 0,
    name: Annotated[str, typer.Option(help="Name that the decisions carry; by default yours on this machine.")] = "",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the browser, or print the address.")
    ] = True,
) -> None:
    """Review the edits of a book in the browser: accept, reject, change, and take it home."""
    from ape.cli.book_review import review_job

    with open_job_store() as store:
        review_job(store, find_job(store, job), port=port, name=name, browser=browser)


@app.command()
def pause(job: JobArgument) -> None:
    """Pause a job; `ape book edit` resumes it."""
    _set_state(job, "paused")


@app.command()
def cancel(job: JobArgument) -> None:
    """Cancel a job; finished paragraphs are kept and can be exported."""
    _set_state(job, "cancelled")


@app.command()
def redo(
    job: JobArgument,
    paragraphs: Annotated[list[str] | None, typer.Argument(metavar="PARAGRAPH", help="Paragraph ids.")] = None,
    rejected: Annotated[bool, typer.Option("--rejected", help="All paragraphs whose drafts were rejected.")] = False,
    quarantined: Annotated[bool, typer.Option("--quarantined", help="All quarantined paragraphs.")] = False,
) -> None:
    """Mark paragraphs to be edited again by the next `ape book edit`."""
    if not (paragraphs or rejected or quarantined):
        raise InputError("Name the paragraphs to redo: ids, --rejected or --quarantined.")
    from ape.jobs.job import JobState

    with open_job_store() as store:
        found = find_job(store, job)
        count = store.redo(found.id, paragraphs=tuple(paragraphs or ()), rejected=rejected, quarantined=quarantined)
        if count:
            store.update(found.id, state=JobState.RUNNING)
    typer.echo(f"{count} paragraph{'s' * (count != 1)} will be redone by the next `ape book edit`.")


@app.command()
def remove(job: JobArgument) -> None:
    """Delete a job and its results; the files are kept."""
    with open_job_store() as store:
        found = find_job(store, job)
        store.remove(found.id)
    typer.echo(f"Deleted job {found.id} ({found.name}).")


def _files(source: Path, mt: Path | None, encoding: str | None, format: str | None) -> JobFiles:
    from ape.jobs.job_files import JobFiles

    return JobFiles(source if mt else None, mt or source, encoding, format)


def _tag(language: str | None) -> str | None:
    """Language tag with region: a translation memory may have several variants of one language."""
    from ape.text.languages import language_tag

    return language and language_tag(language)


def open_job_store(settings: Settings | None = None) -> JobStore:
    """Open the store of the settings."""
    from ape.jobs.store import JobStore
    from ape.settings import load_settings

    return JobStore((settings or load_settings()).jobs_url)


def find_job(store: JobStore, name: str) -> Job:
    """Find a job by its id, a prefix of it, or its output file."""
    jobs = store.jobs(owner="", with_names=False)
    path = str(Path(name).resolve())
    found = [job for job in jobs if job.id == name or job.output == path]
    found = found or [job for job in jobs if len(name) >= 4 and job.id.startswith(name)]
    if len(found) == 1:
        return store.job(found[0].id)
    from ape.errors import UnknownJob

    if found:
        raise UnknownJob(f"{name!r} is ambiguous: {' or '.join(job.id for job in found)}. Give a longer id.")
    raise UnknownJob(f"There is no job {name!r}. `ape book status` lists all jobs.")


def _set_state(name: str, state: str) -> None:
    from ape.errors import Conflict
    from ape.jobs.job import JobState

    with open_job_store() as store:
        found = find_job(store, name)
        if found.state in (JobState.DONE, JobState.CANCELLED) and found.state != state:
            raise Conflict(f"{found.id} ({found.name}) is {found.state}: it can't be {state}.")
        job = store.update(found.id, state=JobState(state))
    typer.echo(f"{job.id} ({job.name}) is {job.state}.")
