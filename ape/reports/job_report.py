"""The report of a job: the book report of its paragraphs, with the job's model, prompt and options."""

from __future__ import annotations

from pathlib import Path

from ape.errors import ApeError, Conflict, InputError
from ape.jobs.job import Job
from ape.jobs.output import check_output_folder
from ape.jobs.store import JobStore
from ape.reports.book_page import write_book_report


def write_job_report(store: JobStore, job: Job, path: Path) -> None:
    """Write the page, replacing an existing file only once it is complete."""
    recipe, counts = job.recipe, store.counts(job.id)
    facts = {
        "Job": f"{job.id}, {job.state}",
        "Model": f"{recipe.model} {recipe.revision}".strip(),
        "Prompt": recipe.prompt,
        "Context": f"{recipe.context} earlier paragraphs",
        "Tokens": f"{counts.prompt_tokens:,} read, {counts.completion_tokens:,} written",
    }
    missing = job.unpaired_source
    if missing.count:
        some = "; ".join(f"{name}: {beginning}" for name, beginning in missing.first[:10])
        facts["Source without MT"] = f"{missing.count:,} paragraphs, among them {some}"
    if recipe.instructions:
        facts["Instructions"] = recipe.instructions
    try:
        write_book_report(
            path,
            store.rows(job.id),
            title=job.name,
            source_language=recipe.source_language,
            target_language=recipe.target_language,
            facts=facts,
        )
    except OSError as error:
        raise ApeError(f"{path} can't be written: {error.strerror}.") from error


def check_report_path(path: Path, *, keep: tuple[Path, ...] = (), overwrite: bool = False) -> None:
    """Raise if the report would replace a file that is not a report."""
    if any(path.exists() and file.exists() and path.samefile(file) for file in keep) or path in keep:
        raise InputError(f"{path} is the book itself. Choose another name for the report.", field="report")
    if path.exists() and not overwrite and not _is_page(path):
        raise Conflict(f"{path} exists and is not a report. Choose another name.", field="report")
    check_output_folder(path, field="report")


def _is_page(path: Path) -> bool:
    """Whether it is a report that `ape` wrote, which may be replaced."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(4096)
    return head.startswith(b"<!doctype html>") and b"ape report" in head
