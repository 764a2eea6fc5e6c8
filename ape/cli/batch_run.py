"""Carry out the commands of `ape batch`, with progress on stderr."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ape.batch.actor import BatchWork
from ape.batch.assembly import AssembledBook, BookStatus, assemble_books, book_statuses
from ape.batch.folder import BatchFolder
from ape.batch.manifest import read_manifest
from ape.batch.models import open_models
from ape.batch.planning import BatchPlan, plan_batch, read_plan
from ape.batch.run import Cluster, ProgressListener, connected, run_batch
from ape.cli.book import open_job_store
from ape.cli.exit_codes import EXIT_INTERRUPTED, EXIT_NEEDS_ATTENTION
from ape.cli.terminal import error_console, fetch_with_progress, print_line
from ape.jobs.job import JobRecipe
from ape.jobs.run import book_concurrency
from ape.settings import Settings

# How many books or paragraphs a list names.
_LISTED = 20


def make_plan(
    manifest: Path,
    place: str,
    recipe: JobRecipe,
    settings: Settings,
    urls: Sequence[str],
    *,
    names: str,
    skip: bool,
    json_output: bool,
) -> int:
    """Plan the batch and print it in numbers."""
    books = read_manifest(manifest, names=names)
    fetch_with_progress(settings)
    folder = BatchFolder(place)

    async def run() -> BatchPlan:
        async with open_models(settings, urls) as models:
            return await plan_batch(folder, books, recipe, settings, models, skip=skip)

    plan = asyncio.run(run())
    if json_output:
        typer.echo(json.dumps(asdict(plan), ensure_ascii=False, indent=2))
    else:
        _print_plan(plan, folder)
    return EXIT_NEEDS_ATTENTION if plan.problems else 0


def _print_plan(plan: BatchPlan, folder: BatchFolder) -> None:
    typer.echo(
        f"{plan.books:,} books, {plan.stretches:,} stretches, {plan.paragraphs:,} paragraphs, {plan.words:,} words"
    )
    for name, count in plan.adapters.items():
        typer.echo(f"  {name}: {count:,} books")
    if plan.problems:
        typer.echo(f"Left out: {len(plan.problems):,} books")
        for one in plan.problems[:_LISTED]:
            typer.echo(f"  line {one['line']}: {one['message']}")
    typer.echo(f"Next: ape batch run {folder.place}, with the same engine flags")


def run_plan(
    place: str,
    settings: Settings,
    urls: Sequence[str],
    cluster: Cluster,
    *,
    concurrency: int | None,
    max_failures: int,
    patience: float,
    redo_quarantined: bool,
    plain: bool,
) -> int:
    """Run the batch, and print what is done."""
    folder = BatchFolder(place)
    plan = read_plan(folder)
    fetch_with_progress(settings)
    count = book_concurrency(settings, concurrency)
    work = BatchWork(folder.place, settings, tuple(urls), count, max_failures, patience)
    try:
        with connected(cluster), _library_progress(folder, plan) as listen:
            if plain:
                from ape.batch.plain import GIVES_UP, run_plain

                print_line(GIVES_UP)
                run_plain(folder, plan, work, cluster)
            else:
                run_batch(folder, plan, work, cluster, redo_quarantined=redo_quarantined, listen=listen)
    except KeyboardInterrupt:
        print_line(f"Stopped. What was finished is kept. Resume with: ape batch run {place}")
        return EXIT_INTERRUPTED
    quarantined = _print_totals(folder, plan)
    return EXIT_NEEDS_ATTENTION if quarantined else 0


def _print_totals(folder: BatchFolder, plan: BatchPlan) -> int:
    finished = quarantined = missing = 0
    for status in book_statuses(folder, plan):
        finished += status.finished
        quarantined += len(status.quarantined)
        missing += status.missing
    print_line(f"{finished:,} of {plan.stretches:,} stretches are finished, {quarantined:,} in quarantine.")
    if quarantined:
        print_line("Try them again with --redo quarantined, or go on: their paragraphs keep the MT.")
    if not missing:
        print_line(f"Next: ape batch assemble {folder.place}")
    return quarantined


@contextmanager
def _library_progress(folder: BatchFolder, plan: BatchPlan) -> Iterator[ProgressListener]:
    """Show a bar of all paragraphs of the library, unless stderr is no terminal."""
    console = error_console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        done = _finished_paragraphs(folder, plan)
        task = bar.add_task("paragraphs", total=plan.paragraphs, completed=done)

        def listen(finished: int, failed: int) -> None:
            text = f"paragraphs ({failed:,} in quarantine)" if failed else "paragraphs"
            bar.update(task, completed=done + finished, description=text)

        yield listen


def _finished_paragraphs(folder: BatchFolder, plan: BatchPlan) -> int:
    """About how many paragraphs were finished before: those of stretches in the results, by their mean length."""
    finished = sum(status.finished for status in book_statuses(folder, plan))
    return plan.paragraphs * finished // max(plan.stretches, 1)


def assemble_plan(place: str, *, overwrite: bool, json_output: bool) -> int:
    """Write the finished books, and name what is missing."""
    folder = BatchFolder(place)
    plan = read_plan(folder)
    needs_attention = bool(plan.problems)
    written = 0
    with open_job_store() as store:
        for assembled in assemble_books(folder, plan, store, overwrite=overwrite):
            summary = assembled.summary
            written += summary is not None
            needs_attention |= summary is None or summary.needs_attention
            if json_output:
                typer.echo(json.dumps(_to_json(assembled), ensure_ascii=False))
            elif summary is None or summary.needs_attention:
                _print_attention(assembled)
    for one in plan.problems[:_LISTED]:
        print_line(f"Left out of the plan: line {one['line']}: {one['message']}")
    print_line(f"{written:,} of {plan.books + len(plan.problems):,} books were written.")
    return EXIT_NEEDS_ATTENTION if needs_attention else 0


def _to_json(assembled: AssembledBook) -> dict[str, object]:
    base = {"output": str(assembled.book.book.output), "problem": assembled.problem}
    return {**base, **(json.loads(assembled.summary.to_json()) if assembled.summary else {})}


def _print_attention(assembled: AssembledBook) -> None:
    """Say why a book was not written, or what of it needs attention."""
    output, summary = assembled.book.book.output, assembled.summary
    if summary is None:
        print_line(f"{output}: not written. {assembled.problem}")
        return
    for paragraph, reason in list(summary.quarantined.items())[:_LISTED]:
        print_line(f"{output}: {paragraph} keeps the MT: {reason}")
    for note in (*summary.output.left_over, *summary.output.left_out)[:_LISTED]:
        print_line(f"{output}: {note.id}: {note.message}")
    if missing := summary.job.unpaired_source.count:
        print_line(f"{output}: {missing:,} paragraphs of the source have no MT.")


def print_status(place: str, *, json_output: bool) -> int:
    """Print how far the books are."""
    folder = BatchFolder(place)
    plan = read_plan(folder)
    unfinished = list[BookStatus]()
    done = 0
    for status in book_statuses(folder, plan):
        if json_output:
            book = {"output": str(status.book.book.output), "stretches": len(status.book.stretches)}
            counts = {"finished": status.finished, "quarantined": len(status.quarantined), "missing": status.missing}
            typer.echo(json.dumps(book | counts, ensure_ascii=False))
        elif status.missing or status.quarantined:
            unfinished.append(status)
        done += not status.missing
    if not json_output:
        for status in unfinished[:_LISTED]:
            typer.echo(
                f"{status.book.book.output}: {status.finished:,} of {len(status.book.stretches):,} stretches, "
                f"{len(status.quarantined):,} in quarantine"
            )
        if len(unfinished) > _LISTED:
            typer.echo(f"… and {len(unfinished) - _LISTED:,} more")
        typer.echo(f"{done:,} of {plan.books:,} books are edited.")
    return 0
