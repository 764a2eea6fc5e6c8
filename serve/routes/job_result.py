"""The result of a job as a download: the book, an export format, or the report."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Literal
from urllib.parse import quote

from fastapi import Response
from starlette.types import Receive, Scope, Send

from ape.books.formats import FORMATS, ExportFormat, ReviewExport
from ape.errors import Conflict, StoreError
from ape.jobs.export import EXPORTS, export_rows
from ape.jobs.job import Job, JobState
from ape.jobs.output import write_output
from ape.jobs.store import JobStore
from ape.reports.job_report import write_job_report
from ape.review.export import REVIEW_EXPORTS, write_review_export
from ape.review.store import ReviewStore
from serve.scheduler.scheduler import JobScheduler
from serve.scheduler.upload_folder import RESULT_PREFIX

CHUNK_BYTES = 1 << 18
_UNSAFE = re.compile(r'[\x00-\x1f\x7f"\\/:*?<>|]+')


ResultFormat = Literal["book", "report"] | ExportFormat


def _utf8(media_type: str) -> str:
    return f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type


# Exports and reports are UTF-8. A text book keeps the encoding of its upload.
EXPORT_TYPES: Mapping[ResultFormat, tuple[str, str]] = {
    **{name: (_utf8(FORMATS[name].media_type), FORMATS[name].suffixes[0]) for name in EXPORTS},
    "report": (_utf8("text/html"), ".html"),
}
MEDIA_TYPES = frozenset(known.media_type for known in FORMATS.values())


@dataclass(frozen=True, slots=True)
class JobResultFile:
    """An open file to send; it may already be unlinked."""

    file: FileIO
    size: int
    media_type: str
    name: str


async def open_job_result(scheduler: JobScheduler, job: Job, format: ResultFormat, *, partial: bool) -> JobResultFile:
    """Open the result; raise Conflict if the job is not done, unless `partial`."""
    if job.state is not JobState.DONE and not partial:
        raise Conflict(f"The job is {job.state}, not done. Try again later, or set partial=true.")
    if format == "book" and job.state is JobState.DONE:
        # The file exists, so skip the queue of worker threads.
        with suppress(OSError):
            return await asyncio.to_thread(open_result, Path(job.output), *_media_type_and_name(job, format))
    return await scheduler.threads.run(job.owner, _create_result, scheduler.store, job, format, scheduler.folder)


def _media_type_and_name(job: Job, format: ResultFormat) -> tuple[str, str]:
    kind, suffix = EXPORT_TYPES.get(format) or (FORMATS[job.format].media_type, Path(job.output).suffix)
    return kind, f"{Path(_UNSAFE.sub('_', job.name)).stem or 'book'}.post-edited{suffix}"


def _create_result(store: JobStore, job: Job, format: ResultFormat, folder: Path) -> JobResultFile:
    kind, name = _media_type_and_name(job, format)
    return _temporary_result(kind, name, folder, lambda path: _write(store, job, format, path))


def create_review_result(reviews: ReviewStore, job: Job, format: ReviewExport, folder: Path) -> JobResultFile:
    """Write an export of a review to a temporary file and open it."""
    known = REVIEW_EXPORTS[format]
    kind, suffix = known.media_type or FORMATS[job.format].media_type, known.suffix or Path(job.output).suffix
    name = f"{Path(_UNSAFE.sub('_', job.name)).stem or 'book'}{'' if known.suffix else '.reviewed'}{suffix}"
    return _temporary_result(kind, name, folder, lambda path: write_review_export(reviews, job, path, format))


def _temporary_result(kind: str, name: str, folder: Path, write: Callable[[Path], None]) -> JobResultFile:
    try:
        with NamedTemporaryFile(prefix=RESULT_PREFIX, suffix=Path(name).suffix, dir=folder, delete=False) as file:
            path = Path(file.name)
        try:
            write(path)
            return open_result(path, kind, name)
        finally:
            path.unlink(missing_ok=True)  # the open file stays readable
    except OSError as error:
        raise StoreError(f"The result can't be written: {error.strerror}. Try again later.") from error


def _write(store: JobStore, job: Job, format: ResultFormat, path: Path) -> None:
    if format == "book":
        write_output(store, job, path)
    elif format == "report":
        write_job_report(store, job, path)
    else:
        with path.open("wb") as file:
            export_rows(store.rows(job.id), file, format=format, job=job)


def open_result(path: Path, kind: str, name: str) -> JobResultFile:
    """Open a file to send under that name."""
    file = FileIO(path)
    return JobResultFile(file, os.fstat(file.fileno()).st_size, kind, name)


def content_disposition(name: str) -> str:
    """Build the header of RFC 6266, with an ASCII fallback for old clients."""
    safe = _UNSAFE.sub("_", name).strip(". ") or "book"
    plain = safe.encode("ascii", "replace").decode().replace("?", "_")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(safe.encode('utf-8', 'replace'), safe='')}"


class JobResultResponse(Response):
    """Send the file in chunks and close it in any case."""

    def __init__(self, result: JobResultFile) -> None:
        super().__init__(
            headers={
                "Content-Type": result.media_type,
                "Content-Length": str(result.size),
                "Content-Disposition": content_disposition(result.name),
                # Users' text: no script in it may run in our origin.
                "X-Content-Type-Options": "nosniff",
                "Content-Security-Policy": "sandbox",
                "Cache-Control": "no-store",
            }
        )
        self.result = result

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send headers and content."""
        with self.result.file as file:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
