"""Put a job's texts back into its file: written whole or not at all, read back, and compared paragraph by paragraph."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO

from ape.books.book import BilingualBook, Book
from ape.books.encoding import Encoding
from ape.books.formats import FORMATS, open_book
from ape.errors import ApeError, Conflict, InputError
from ape.files.atomic import atomic_path
from ape.jobs.job import Job
from ape.jobs.job_files import hash_file
from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.jobs.store import JobStore
from ape.text.inline_marks import strip_marks

# So many are named one by one; of the others there is the count.
MAX_NOTES = 100
# So often a book is written anew without what did not fit; one look finds most of it.
MAX_TRIES = 10


class OutputMismatch(ApeError):
    """A file that we wrote does not read back as it should: it is thrown away."""

    title = "The output is not what it should be"


@dataclass(frozen=True, slots=True)
class ParagraphNote:
    """A paragraph of the finished book that somebody has to see to, and why."""

    id: str
    message: str


@dataclass(frozen=True, slots=True)
class JobOutput:
    """The finished book: as many paragraphs as came in, and which of them still have source text in them.

    `left_out` are paragraphs whose new text could not be put back, with the reason.
    """

    path: Path
    paragraphs: int
    replaced: int
    sha256: str
    left_over: tuple[ParagraphNote, ...]
    left_over_count: int
    left_out: tuple[ParagraphNote, ...] = ()

    def to_json(self) -> str:
        """To be kept with the job."""
        return json.dumps({**asdict(self), "path": str(self.path)}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> JobOutput:
        """As it was kept."""
        content = json.loads(text)
        notes = {
            name: tuple(ParagraphNote(**one) for one in content.get(name, ()))
            for name in ("left_over", "left_out")
        }
        return cls(**{**content, **notes, "path": Path(content["path"])})


def check_output_path(
    output: Path, *, inputs: tuple[Path, ...], known_hash: str = "", overwrite: bool = False
) -> None:
    """Raise where the output can't be written, or would replace what is not ours to replace.

    `known_hash` is the SHA-256 of what this job wrote there before.
    """
    for given in inputs:
        if output.exists() and given.exists() and output.samefile(given):
            raise InputError(
                f"{output} is the input itself. Choose another name for the output.", field="output"
            )
    if output.is_dir():
        raise InputError(f"{output} is a folder. Name the file that is to be written.", field="output")
    _refuse_no_file(output)
    check_output_folder(output, field="output")
    if output.exists() and not overwrite and hash_file(output) != known_hash:
        raise Conflict(
            f"{output} is there already, and is not what this job wrote. Choose another name, or allow overwriting it.",
            field="output",
        )


def check_output_suffix(output: Path, book: Book) -> None:
    """Raise where the suffix of the output belongs to another format than the book's."""
    suffix, own = output.suffix.lower(), book.path.suffix.lower()
    known = {ending for known_format in FORMATS.values() for ending in known_format.suffixes}
    allowed = {own, *FORMATS[book.format.removeprefix("bilingual-")].suffixes}
    if suffix in known and suffix not in allowed:
        raise InputError(
            f"{output.name} would be a {FORMATS[book.format].title} file, as {book.path.name} is. Call it "
            f"*{own or min(allowed)}; other formats can be exported.",
            field="output",
        )


def check_output_folder(output: Path, *, field: str) -> None:
    """Raise where no file can be put into the folder of the output."""
    if not output.parent.is_dir():
        raise InputError(f"There is no folder {output.parent}. Make it first.", field=field)
    try:
        with NamedTemporaryFile(dir=output.parent, prefix=".ape-"):
            pass
    except OSError as error:
        raise InputError(
            f"Nothing can be written into {output.parent}: {error.strerror}.", field=field
        ) from error


def _refuse_no_file(output: Path) -> None:
    """A device or a pipe would be replaced by a file, or read without end."""
    if output.exists() and not output.is_file():
        raise InputError(
            f"{output} is not a regular file. Name a new file or an earlier output.", field="output"
        )


def open_input(job: Job, path: str, sha256: str) -> Book:
    """A file of the job as it was when the job began."""
    place = Path(path)
    if hash_file(place) != sha256:
        raise Conflict(
            f"{place.name} has changed since the job was planned. Start the job again from the same files: only "
            "changed paragraphs are edited again.",
        )
    told = job.file_options
    return open_book(
        place,
        format=told.format,
        encoding=job.encoding or None,
        source_language=told.source_language,
        target_language=told.target_language,
    )


def write_output(store: JobStore, job: Job, output: Path) -> JobOutput:
    """The book with what has been done so far, in the format it came in.

    A text that this file can't hold, or that does not read back as it was written, is left out: its paragraph stays as
    it was, and is named.
    """
    book = open_input(job, job.mt, job.mt_hash)
    left_out: dict[str, str] = {}
    for _ in range(MAX_TRIES):
        try:
            return _written(_Texts(store, job, book, left_out), output)
        except _UnencodableTexts as unfit:
            if unfit.paragraphs.keys() <= left_out.keys():
                break
            left_out |= unfit.paragraphs
    raise OutputMismatch(f"{output} does not read back as it was written. It is not kept; all results are.")


class _UnencodableTexts(Exception):
    """New texts that do not go into the book, by paragraph, and why."""

    def __init__(self, paragraphs: Mapping[str, str]) -> None:
        super().__init__()
        self.paragraphs = dict(paragraphs)


class _Texts:
    """What is to be written, paragraph by paragraph, in words that the file can hold."""

    def __init__(self, store: JobStore, job: Job, book: Book, left_out: dict[str, str]) -> None:
        self.store, self.job, self.book, self.left_out = store, job, book, left_out
        self.last = ""
        self.given: set[str] = set()
        self._text_of = store.new_texts(job.id)

    def __call__(self, paragraph: str) -> str | None:
        text = None if paragraph in self.left_out else self._text_of(paragraph)
        if text is None:
            return None
        self.last = paragraph
        try:
            fitted = self.book.fit_text(text)
        except InputError as error:
            self.left_out[paragraph] = str(error)
            return None
        self.given.add(paragraph)
        return fitted

    def expected(self, row: JobParagraph) -> str:
        """What stands in the book when it is read back; what was finished since it was written does not."""
        return self.book.fit_text(row.text) if row.planned.id in self.given else row.planned.mt


def _written(texts: _Texts, output: Path) -> JobOutput:
    with open_output(output) as (part, file):
        try:
            written = texts.book.write(file, texts)
        except InputError as error:
            raise _UnencodableTexts({texts.last: str(error)}) from error
        file.flush()
        found, count = _read_back(texts, part)
        sha256 = hash_file(part)
    unfit = tuple(ParagraphNote(paragraph, reason) for paragraph, reason in texts.left_out.items())
    return JobOutput(output, written.paragraphs, written.replaced, sha256, tuple(found), count, unfit)


@contextmanager
def open_output(output: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Yield a new file and its path; it becomes `output` when the block ends, and is removed if the block fails."""
    _refuse_no_file(output)
    try:
        with atomic_path(output, sync=True) as part, part.open("x+b") as file:
            yield part, file
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ApeError(
                f"The disk of {output} is full: nothing was written, and all results are kept. Make room, then run the "
                "same command again."
            ) from error
        raise ApeError(f"{output} can't be written: {error.strerror}. All results are kept.") from error


def _read_back(texts: _Texts, part: Path) -> tuple[list[ParagraphNote], int]:
    """Read what was written: the same paragraphs in the same order, each with the text that it should have."""
    job, book = texts.job, _opened_again(texts, part)
    named: list[ParagraphNote] = []
    unfit: dict[str, str] = {}
    count, edited = 0, ""
    for paragraph, row in zip_longest(book.paragraphs(), texts.store.rows(job.id)):
        if row is None or paragraph is None or paragraph.id != row.planned.id:
            raise _UnencodableTexts(
                unfit or {edited: "With it, the paragraphs were not the same ones any more."}
            )
        text = texts.expected(row)
        edited = row.planned.id if text != row.planned.mt else edited
        # Marks are numbered as they come, and those at the rim are none: only the words are compared.
        if strip_marks(paragraph.text).split() != strip_marks(text).split():
            unfit[edited] = "It did not read back as it was written."
        if message := _left_over(row, text, job):
            count += 1
            if len(named) < MAX_NOTES:
                named.append(ParagraphNote(row.planned.id, message))
    if unfit:
        raise _UnencodableTexts(unfit)
    return named, count


def _opened_again(texts: _Texts, part: Path) -> Book:
    """What was written. What was guessed of the MT is known of it: new words could make the guess another one."""
    if isinstance(texts.book, BilingualBook):
        return texts.book.reopen(part)
    told, guessed = texts.job.file_options, getattr(texts.book, "encoding", None)
    return open_book(
        part,
        format=texts.book.format,
        encoding=texts.job.encoding or (guessed.name if isinstance(guessed, Encoding) else None),
        source_language=told.source_language,
        target_language=told.target_language,
    )


def _left_over(row: JobParagraph, text: str, job: Job) -> str:
    # Guards take half a second to import, and whoever only looks at a finished job needs none.
    from ape.jobs.untranslated_text import find_untranslated_text

    if row.state is ParagraphState.SKIPPED and not row.planned.source:
        return ""
    return find_untranslated_text(
        row.planned.source,
        text,
        source_language=job.recipe.source_language,
        target_language=job.recipe.target_language,
    )
