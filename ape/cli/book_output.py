"""Print and export jobs."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import typer
from rich.markup import escape
from rich.table import Table

from ape.books.formats import ReviewExport
from ape.cli.model_caveats import larger_model_hint
from ape.cli.terminal import print_line, table_console
from ape.errors import Conflict
from ape.jobs.counts import JobCounts
from ape.jobs.job import Job
from ape.jobs.output import check_output_path, open_output, write_output
from ape.jobs.store import JobStore
from ape.jobs.summary import BookSummary, describe_state, quarantine_reasons

MAX_LISTED = 20


def print_summary(summary: BookSummary, *, json_output: bool) -> None:
    """Print the results to stdout, and what needs attention to stderr."""
    if json_output:
        typer.echo(summary.to_json())
    counts, output = summary.counts, summary.output
    if not json_output:
        typer.echo(
            f"{output.path}: {counts.total:,} paragraphs in, {output.paragraphs:,} out · {counts.edited:,} edited, "
            f"{counts.unchanged:,} unchanged, {counts.rejected:,} rejected, {counts.quarantined:,} quarantined, "
            f"{counts.skipped:,} skipped"
        )
        usage = counts.usage
        typer.echo(
            f"{summary.seconds:.0f} s · {usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written · "
            f"job {summary.job.id} · ape book report {summary.job.id}"
        )
    if counts.total and not counts.edited:
        hint = larger_model_hint(summary.job.recipe.model)
        print_line(f"Nothing was changed: the output is the MT.{f' Try {hint}' if hint else ''}")
    for reason, count in summary.skipped.items():
        print_line(f"Skipped: {count:,} ({reason}).")
    _print_list("Quarantined; the MT is kept", list(summary.quarantined.items()), counts.quarantined)
    _print_list(
        "Source text is left in the book",
        [(paragraph.id, paragraph.message) for paragraph in output.left_over],
        output.left_over_count,
    )
    left_out = [(paragraph.id, paragraph.message) for paragraph in output.left_out]
    _print_list("The post-edit could not be inserted; the MT is kept", left_out, len(left_out))
    missing = summary.job.unpaired_source
    _print_list("No MT was found for paragraphs of the source", list(missing.first), missing.count)
    if summary.quarantined:
        print_line("Retry these: run the same command with --redo quarantined.")


def _print_list(what: str, named: list[tuple[str, str]], count: int) -> None:
    if not count:
        return
    print_line(f"{what}: {count:,}")
    for name, reason in named[:MAX_LISTED]:
        print_line(f"  {name}: {reason}")
    if count > MAX_LISTED:
        print_line(f"  … and {count - MAX_LISTED:,} more; the report has them all.")


def print_jobs(store: JobStore, *, json_output: bool) -> None:
    """Print all jobs, the newest first."""
    rows = [(job, store.counts(job.id)) for job in store.jobs(owner="", with_names=False)]
    if json_output:
        data = [_job_json(store, job, counts) for job, counts in rows]
        typer.echo(json.dumps(data, ensure_ascii=False, indent=2))
        return
    if not rows:
        print_line("There are no jobs in this store yet (see `jobs` in `ape settings`). `ape book edit` starts one.")
        return
    for job, counts in rows:
        typer.echo(f"{job.id}  {job.name}: {describe_state(store, job)}, {_share(counts)}")
        typer.echo(f"            -> {job.output}")


def _share(counts: JobCounts) -> str:
    finished = counts.total - counts.waiting
    quarantined = f", {counts.quarantined:,} quarantined" if counts.quarantined else ""
    return (
        f"{finished:,} of {counts.total:,} finished ({counts.edited:,} edited, {counts.unchanged:,} unchanged, "
        f"{counts.rejected:,} rejected{quarantined})"
    )


def print_job(store: JobStore, job: Job, *, json_output: bool) -> None:
    """Print one job by chapter."""
    chapters = store.chapters(job.id)
    if json_output:
        data = _job_json(store, job, store.counts(job.id))
        data["chapters"] = [
            {"chapter": chapter.chapter, "title": chapter.title, **_counts_json(chapter.counts)} for chapter in chapters
        ]
        data["quarantined_paragraphs"] = quarantine_reasons(store, job.id)
        typer.echo(json.dumps(data, ensure_ascii=False, indent=2))
        return
    console = table_console(160)
    console.print(f"{job.name}: {describe_state(store, job)}", markup=False)
    if job.note:
        console.print(job.note, markup=False)
    console.print(f"{job.id}: {_share(store.counts(job.id))} -> {job.output}", markup=False, soft_wrap=True)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("chapter", justify="right")
    table.add_column("title", no_wrap=True)
    # What is zero in every chapter has no column, so that the others fit into 80 columns.
    columns = ("total", *(name for name in _CHAPTER_COLUMNS if any(getattr(one.counts, name) for one in chapters)))
    for name in columns:
        table.add_column("paragraphs" if name == "total" else name, justify="right", no_wrap=True)
    for chapter in chapters:
        numbers = (getattr(chapter.counts, name) for name in columns)
        table.add_row(str(chapter.chapter + 1), escape(chapter.title[:40]), *(f"{number:,}" for number in numbers))
    console.print(table)


_CHAPTER_COLUMNS = ("waiting", "edited", "unchanged", "rejected", "quarantined", "skipped")


def _job_json(store: JobStore, job: Job, counts: JobCounts) -> dict[str, Any]:
    return {
        "id": job.id,
        "name": job.name,
        "state": describe_state(store, job),
        "note": job.note,
        "output": job.output,
        "created": job.created.isoformat(),
        "updated": job.updated.isoformat(),
        "model": job.recipe.model,
        **_counts_json(counts),
    }


def _counts_json(counts: JobCounts) -> dict[str, int]:
    return {"paragraphs": counts.total, **asdict(counts)}


def _export_review(store: JobStore, job: Job, output: Path, format: str, *, overwrite: bool) -> None:
    from ape.review.export import write_review_export
    from ape.review.store import ReviewStore

    check_output_path(output, inputs=tuple(Path(file) for file in (job.source, job.mt) if file), overwrite=overwrite)
    write_review_export(ReviewStore(store), job, output, format)
    typer.echo(output)


def export_job(store: JobStore, job: Job, output: Path, *, format: str | None, overwrite: bool) -> None:
    """Export the results so far, by default in the format that the suffix of the output names."""
    from ape.jobs.export import choose_export_format, export_rows

    if format and format in get_args(ReviewExport):
        _export_review(store, job, output, format, overwrite=overwrite)
        return
    is_stdout = str(output) == "-"
    kind = choose_export_format(output, job, format)
    if not is_stdout:
        inputs = tuple(Path(file) for file in (job.source, job.mt) if file)
        check_output_path(output, inputs=inputs, overwrite=overwrite)
    if kind is None:
        if is_stdout:
            raise Conflict("A book can't be written to stdout: give a file with -o FILE.", field="output")
        written = write_output(store, job, output)
        typer.echo(f"{output}: {written.paragraphs:,} paragraphs, {written.replaced:,} post-edited")
        return
    if is_stdout:
        export_rows(store.rows(job.id), sys.stdout.buffer, format=kind, job=job)
    else:
        with open_output(output) as (_, file):
            export_rows(store.rows(job.id), file, format=kind, job=job)
        typer.echo(output)
