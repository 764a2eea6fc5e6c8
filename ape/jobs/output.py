"""Put a job's texts back into its file: written whole or not at all, read back, and compared paragraph by paragraph."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast

from ape.books.book import Book, Paragraph
from ape.books.formats import open_book
from ape.errors import ApeError, Conflict, InputError
from ape.jobs.files import hash_of
from ape.jobs.job import Job
from ape.jobs.row import Row, State
from ape.jobs.store import Store

# So many are named one by one; of the others there is the count.
NAMED = 100


class NotTheSame(ApeError):
    """A file that we wrote does not read back as it should: it is thrown away."""

    title = "The output is not what it should be"


@dataclass(frozen=True, slots=True)
class LeftOver:
    """A paragraph of the finished book that still has source text in it."""

    id: str
    message: str


@dataclass(frozen=True, slots=True)
class Output:
    """The finished book: as many paragraphs as came in, and which of them still have source text in them."""

    path: Path
    paragraphs: int
    replaced: int
    sha256: str
    left_over: tuple[LeftOver, ...]
    left_over_count: int

    def to_json(self) -> str:
        """To be kept with the job."""
        return json.dumps({**asdict(self), "path": str(self.path)}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Output:
        """As it was kept."""
        content = json.loads(text)
        left_over = tuple(LeftOver(**one) for one in content["left_over"])
        return cls(**{**content, "path": Path(content["path"]), "left_over": left_over})


def refuse_output(output: Path, *, inputs: tuple[Path, ...], ours: str = "", overwrite: bool = False) -> None:
    """Raise where the output can't be written, or would replace what is not ours to replace.

    `ours` is the hash of what this same job wrote there before.
    """
    for given in inputs:
        if output.exists() and given.exists() and output.samefile(given):
            raise InputError(
                f"{output} is the input itself. Choose another name for the output.", field="output"
            )
    if output.is_dir():
        raise InputError(f"{output} is a folder. Name the file that is to be written.", field="output")
    if not output.parent.is_dir():
        raise InputError(f"There is no folder {output.parent}. Make it first.", field="output")
    if output.exists() and not overwrite and hash_of(output) != ours:
        raise Conflict(
            f"{output} is there already, and is not what this job wrote. Choose another name, or say --overwrite.",
            field="output",
        )
    try:
        with NamedTemporaryFile(dir=output.parent, prefix=".ape-"):
            pass
    except OSError as error:
        raise InputError(
            f"Nothing can be written into {output.parent}: {error.strerror}.", field="output"
        ) from error


def open_input(job: Job, path: str, sha256: str) -> Book:
    """A file of the job as it was when the job began."""
    place = Path(path)
    if hash_of(place) != sha256:
        raise Conflict(
            f"{place} has changed since the job was planned. Run `ape book edit` again with the same files: only what "
            "changed is done anew.",
        )
    return open_book(
        place,
        format=job.format,
        encoding=job.encoding or None,
        source_language=job.recipe.source_language,
        target_language=job.recipe.target_language,
    )


def write_output(store: Store, job: Job, output: Path) -> Output:
    """The book with what has been done so far, in the format it came in."""
    book = open_input(job, job.mt, job.mt_hash)
    with write_whole(output) as (part, file):
        written = book.write(file, store.text_of(job.id))
        file.flush()
        os.fsync(file.fileno())
        found, count = _read_back(store, job, part, written.paragraphs)
        sha256 = hash_of(part)
    return Output(output, written.paragraphs, written.replaced, sha256, tuple(found), count)


@contextmanager
def write_whole(output: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A file beside `output` that takes its place at the end of the block, and goes if the block fails."""
    if output.exists() and not output.is_file():
        raise InputError(f"{output} is no file. Name a file, new or of ours.", field="output")
    part: Path | None = None
    try:
        with NamedTemporaryFile(
            dir=output.parent, prefix=".ape-", suffix=output.suffix, delete=False
        ) as file:
            part = Path(file.name)
            yield part, cast(BinaryIO, file)
        part.chmod(0o666 & ~_umask())
        part.replace(output)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ApeError(
                f"The disk of {output} is full: nothing was written, and all results are kept. Make room, then run the "
                "same command again."
            ) from error
        raise ApeError(f"{output} can't be written: {error.strerror}. All results are kept.") from error
    finally:
        if part:
            with suppress(OSError):
                part.unlink()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _read_back(store: Store, job: Job, part: Path, paragraphs: int) -> tuple[list[LeftOver], int]:
    """Read what was written: the same paragraphs in the same order, each with the text that it should have."""
    book = open_book(
        part,
        format=job.format,
        encoding=job.encoding or None,
        source_language=job.recipe.source_language,
        target_language=job.recipe.target_language,
    )
    named: list[LeftOver] = []
    count = seen = 0
    for paragraph, row in zip_longest(book.paragraphs(), store.rows(job.id)):
        _require_same(paragraph, row)
        seen += 1
        if message := _left_over(row, job):
            count += 1
            if len(named) < NAMED:
                named.append(LeftOver(row.planned.id, message))
    if seen != paragraphs:
        raise NotTheSame(
            f"{paragraphs} paragraphs were written and {seen} read back. The output is not kept."
        )
    return named, count


def _require_same(paragraph: Paragraph | None, row: Row | None) -> None:
    if paragraph is None or row is None or paragraph.id != row.planned.id:
        wanted, found = (row.planned.id if row else "no more"), (paragraph.id if paragraph else "no more")
        raise NotTheSame(f"After writing, paragraph {wanted} was expected and {found} is there.")
    if paragraph.text.split() != row.text.split():
        raise NotTheSame(f"Paragraph {row.planned.id} does not read back as it was written.")


def _left_over(row: Row, job: Job) -> str:
    # Guards take half a second to import, and whoever only looks at a finished job needs none.
    from ape.jobs.leftover import left_over

    if row.state is State.SKIPPED and not row.planned.source:
        return ""
    return left_over(
        row.planned.source,
        row.text,
        source_language=job.recipe.source_language,
        target_language=job.recipe.target_language,
    )
