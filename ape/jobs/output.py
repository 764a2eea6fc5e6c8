"""Put a job's texts back into its file: written whole or not at all, read back, and compared paragraph by paragraph."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast

from ape.books.book import Book
from ape.books.formats import open_book
from ape.errors import ApeError, Conflict, InputError
from ape.jobs.files import hash_of
from ape.jobs.job import Job
from ape.jobs.row import Row, State
from ape.jobs.store import Store

# So many are named one by one; of the others there is the count.
NAMED = 100
# A book in which more than these do not fit is not what we take it for.
MOST_LEFT_OUT = 20


class NotTheSame(ApeError):
    """A file that we wrote does not read back as it should: it is thrown away."""

    title = "The output is not what it should be"


@dataclass(frozen=True, slots=True)
class Noted:
    """A paragraph of the finished book that somebody has to see to, and why."""

    id: str
    message: str


@dataclass(frozen=True, slots=True)
class Output:
    """The finished book: as many paragraphs as came in, and which of them still have source text in them.

    `left_out` are paragraphs whose new text could not be put back, with the reason.
    """

    path: Path
    paragraphs: int
    replaced: int
    sha256: str
    left_over: tuple[Noted, ...]
    left_over_count: int
    left_out: tuple[Noted, ...] = ()

    def to_json(self) -> str:
        """To be kept with the job."""
        return json.dumps({**asdict(self), "path": str(self.path)}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Output:
        """As it was kept."""
        content = json.loads(text)
        notes = {
            name: tuple(Noted(**one) for one in content.get(name, ())) for name in ("left_over", "left_out")
        }
        return cls(**{**content, **notes, "path": Path(content["path"])})


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
    """The book with what has been done so far, in the format it came in.

    A text that can't be put back, or that does not read back as it was written, is left out: its paragraph stays as it
    was, and is named.
    """
    book = open_input(job, job.mt, job.mt_hash)
    left_out: dict[str, str] = {}
    while True:
        try:
            return _written(store, job, book, output, left_out)
        except _Unfit as unfit:
            if unfit.paragraph in left_out or len(left_out) >= MOST_LEFT_OUT:
                raise NotTheSame(f"{unfit} The output is not kept; all results are.") from unfit
            left_out[unfit.paragraph] = str(unfit)


class _Unfit(Exception):
    """A paragraph's new text does not go into the book."""

    def __init__(self, message: str, paragraph: str) -> None:
        super().__init__(message)
        self.paragraph = paragraph


def _written(store: Store, job: Job, book: Book, output: Path, left_out: Mapping[str, str]) -> Output:
    texts, asked = store.text_of(job.id), [""]

    def text_of(paragraph: str) -> str | None:
        if paragraph in left_out:
            return None
        text = texts(paragraph)
        if text is not None:
            asked[0] = paragraph
        return text

    with write_whole(output) as (part, file):
        try:
            written = book.write(file, text_of)
        except InputError as error:
            raise _Unfit(str(error), asked[0]) from error
        file.flush()
        os.fsync(file.fileno())
        found, count = _read_back(store, job, part, left_out)
        sha256 = hash_of(part)
    unfit = tuple(Noted(paragraph, reason) for paragraph, reason in left_out.items())
    return Output(output, written.paragraphs, written.replaced, sha256, tuple(found), count, unfit)


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


def _read_back(store: Store, job: Job, part: Path, left_out: Mapping[str, str]) -> tuple[list[Noted], int]:
    """Read what was written: the same paragraphs in the same order, each with the text that it should have."""
    book = open_book(
        part,
        format=job.format,
        encoding=job.encoding or None,
        source_language=job.recipe.source_language,
        target_language=job.recipe.target_language,
    )
    named: list[Noted] = []
    count, edited = 0, ""
    for paragraph, row in zip_longest(book.paragraphs(), store.rows(job.id)):
        if row and row.result and row.text != row.planned.mt and row.planned.id not in left_out:
            edited = row.planned.id
        text = _text(row, left_out)
        if row is None or paragraph is None or paragraph.id != row.planned.id:
            raise _Unfit("After it was written, the paragraphs are not the same ones any more.", edited)
        if paragraph.text.split() != text.split():
            raise _Unfit("It does not read back as it was written.", edited)
        if message := _left_over(row, text, job):
            count += 1
            if len(named) < NAMED:
                named.append(Noted(row.planned.id, message))
    return named, count


def _text(row: Row | None, left_out: Mapping[str, str]) -> str:
    if row is None:
        return ""
    return row.planned.mt if row.planned.id in left_out else row.text


def _left_over(row: Row, text: str, job: Job) -> str:
    # Guards take half a second to import, and whoever only looks at a finished job needs none.
    from ape.jobs.leftover import left_over

    if row.state is State.SKIPPED and not row.planned.source:
        return ""
    return left_over(
        row.planned.source,
        text,
        source_language=job.recipe.source_language,
        target_language=job.recipe.target_language,
    )
