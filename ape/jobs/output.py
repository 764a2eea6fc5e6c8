"""Write a job's texts back into its file, atomically, and verify the result paragraph by paragraph."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from ape.books.book import BilingualBook, Book, NewText
from ape.books.encoding import Encoding
from ape.books.formats import FORMATS, open_book
from ape.errors import ApeError, Conflict, InputError
from ape.files.atomic import atomic_path, draft_path, remove_stale_drafts
from ape.files.hashing import hash_input
from ape.jobs.job import Job
from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.jobs.store import JobStore
from ape.text.inline_marks import strip_marks

# How many paragraphs are listed one by one; the others are only counted.
MAX_NOTES = 100
# How often to write the book again without the texts that did not fit; one pass finds most of them.
MAX_TRIES = 10
JobRows = Callable[[], Iterator[JobParagraph]]


class OutputMismatch(ApeError):
    """The written file does not read back as it should. It is discarded."""

    title = "The output is not what it should be"


@dataclass(frozen=True, slots=True)
class ParagraphNote:
    """A paragraph of the finished book that needs attention, and why."""

    id: str
    message: str


@dataclass(frozen=True, slots=True)
class JobOutput:
    """The finished book, and which of its paragraphs still contain source text (`left_over`).

    `left_out` are paragraphs whose new text could not be written, with the reason.
    """

    path: Path
    paragraphs: int
    replaced: int
    sha256: str
    left_over: tuple[ParagraphNote, ...]
    left_over_count: int
    left_out: tuple[ParagraphNote, ...] = ()

    def to_json(self) -> str:
        """As stored with the job."""
        return json.dumps({**asdict(self), "path": str(self.path)}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> JobOutput:
        """Parse the stored JSON."""
        content = json.loads(text)
        notes = {
            name: tuple(ParagraphNote(**one) for one in content.get(name, ())) for name in ("left_over", "left_out")
        }
        return cls(**{**content, **notes, "path": Path(content["path"])})


def check_output_path(output: Path, *, inputs: tuple[Path, ...], known_hash: str = "", overwrite: bool = False) -> None:
    """Raise where the output can't be written, or would replace a file that the job did not write.

    `known_hash` has the SHA-256 of what this job wrote there before, and of what it was about to write.
    """
    for given in inputs:
        if output.exists() and given.exists() and output.samefile(given):
            raise InputError(f"{output} is the input itself. Choose another name for the output.", field="output")
    if output.is_dir():
        raise InputError(f"{output} is a folder. Name the file to write.", field="output")
    _check_regular_file(output)
    check_output_folder(output, field="output")
    if output.exists() and not overwrite and hash_input(output) not in known_hash.split():
        raise Conflict(
            f"{output} exists and was not written by this job. Choose another name, or allow overwriting it.",
            field="overwrite",
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
    """Raise where no file can be created in the output's folder."""
    if not output.parent.is_dir():
        raise InputError(f"There is no folder {output.parent}. Make it first.", field=field)
    remove_stale_drafts(output.parent)
    draft = draft_path(output)
    try:
        draft.touch()
        draft.unlink()
    except OSError as error:
        raise InputError(f"Nothing can be written into {output.parent}: {error.strerror}.", field=field) from error


def _check_regular_file(output: Path) -> None:
    """Raise for a device or a pipe: it would be replaced by a file, or read without end."""
    if output.exists() and not output.is_file():
        raise InputError(f"{output} is not a regular file. Name a new file or an earlier output.", field="output")


def open_input(job: Job, path: str, sha256: str) -> Book:
    """Open a file of the job; raises Conflict where it has changed since planning."""
    place = Path(path)
    if hash_input(place) != sha256:
        raise Conflict(
            f"{place.name} has changed since the job was planned. Start the job again from the same files: only "
            "changed paragraphs are edited again."
        )
    options = job.file_options
    return open_book(
        place,
        format=options.format,
        encoding=job.encoding or None,
        source_language=options.source_language,
        target_language=options.target_language,
    )


def write_output(
    store: JobStore, job: Job, output: Path, *, record: bool = False, rows: JobRows | None = None
) -> JobOutput:
    """Write the book with all results so far, in its own format; `record` its hash in the job before it appears.

    `rows` are called for the paragraphs in book order, where they should have other texts than those of the results.

    A text that the file can't encode, or that does not read back as written, is left out: its paragraph stays as it was
    and is noted.
    """
    book = open_input(job, job.mt, job.mt_hash)
    left_out: dict[str, str] = {}
    for _ in range(MAX_TRIES):
        try:
            return _written(_Texts(store, job, book, left_out, rows), output, record=record)
        except _UnencodableTexts as unfit:
            if unfit.paragraphs.keys() <= left_out.keys():
                break
            left_out |= unfit.paragraphs
    raise OutputMismatch(f"{output} does not read back as it was written. It is not kept; all results are.")


class _UnencodableTexts(Exception):
    """New texts that can't be written into the book: reasons by paragraph id."""

    def __init__(self, paragraphs: Mapping[str, str]) -> None:
        super().__init__()
        self.paragraphs = dict(paragraphs)


class _Texts:
    """The new texts, by paragraph id, in characters that the file can encode."""

    def __init__(self, store: JobStore, job: Job, book: Book, left_out: dict[str, str], rows: JobRows | None) -> None:
        self.store, self.job, self.book, self.left_out = store, job, book, left_out
        self.rows = rows or (lambda: store.rows(job.id))
        self.last = ""
        self.given: set[str] = set()
        changed = {row.planned.id: row.text for row in rows() if row.text != row.planned.mt} if rows else {}
        self._text_of: NewText = changed.get if rows else store.new_texts(job.id)

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
        """The text to find when reading back; results that were saved after writing are not in it."""
        return self.book.fit_text(row.text) if row.planned.id in self.given else row.planned.mt


def _written(texts: _Texts, output: Path, *, record: bool) -> JobOutput:
    with open_output(output) as (part, file):
        try:
            written = texts.book.write(file, texts)
        except InputError as error:
            raise _UnencodableTexts({texts.last: str(error)}) from error
        file.flush()
        found, count = _read_back(texts, part)
        sha256 = hash_input(part)
        if record:
            _record_hash(texts.store, texts.job, output, sha256)
    unfit = tuple(ParagraphNote(paragraph, reason) for paragraph, reason in texts.left_out.items())
    return JobOutput(output, written.paragraphs, written.replaced, sha256, tuple(found), count, unfit)


def _record_hash(store: JobStore, job: Job, output: Path, sha256: str) -> None:
    """Note the hash before the file takes its name, next to that of the file it replaces.

    After a kill between the two steps, either file is known to be the job's.
    """
    known = store.job(job.id).output_hash.split()
    before = hash_input(output) if output.is_file() else ""
    store.update(job.id, output_hash=" ".join(dict.fromkeys([*(one for one in known if one == before), sha256])))


@contextmanager
def open_output(output: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Yield a new file and its path; it becomes `output` when the block ends, and is removed if the block fails."""
    _check_regular_file(output)
    remove_stale_drafts(output.parent)
    try:
        with atomic_path(output, sync=True) as part, part.open("x+b") as file:
            yield part, file
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ApeError(
                f"The disk of {output} is full: nothing was written, and all results are kept. Free some space, then "
                "run the job again."
            ) from error
        raise ApeError(f"{output} can't be written: {error.strerror}. All results are kept.") from error


def _read_back(texts: _Texts, part: Path) -> tuple[list[ParagraphNote], int]:
    """Read the file back and compare: the same paragraphs in order, each with the expected text."""
    job, book = texts.job, _reopen(texts, part)
    named: list[ParagraphNote] = []
    unfit: dict[str, str] = {}
    count, edited = 0, ""
    for paragraph, row in zip_longest(book.paragraphs(), texts.rows()):
        if row is None or paragraph is None or paragraph.id != row.planned.id:
            raise _UnencodableTexts(unfit or {edited: "With it, the paragraphs of the file changed."})
        text = texts.expected(row)
        edited = row.planned.id if text != row.planned.mt else edited
        # Marks are renumbered and dropped at the edges, so only the words are compared.
        if strip_marks(paragraph.text).split() != strip_marks(text).split():
            unfit[edited] = "It did not read back as it was written."
        if message := _left_over(row, text, job):
            count += 1
            if len(named) < MAX_NOTES:
                named.append(ParagraphNote(row.planned.id, message))
    if unfit:
        raise _UnencodableTexts(unfit)
    return named, count


def _reopen(texts: _Texts, part: Path) -> Book:
    """Open what was written, with the MT's detected encoding and layout: new words could change the detection."""
    if isinstance(texts.book, BilingualBook):
        return texts.book.reopen(part)
    options, detected = texts.job.file_options, getattr(texts.book, "encoding", None)
    return open_book(
        part,
        format=texts.book.format,
        encoding=texts.job.encoding or (detected.name if isinstance(detected, Encoding) else None),
        source_language=options.source_language,
        target_language=options.target_language,
    )


def _left_over(row: JobParagraph, text: str, job: Job) -> str:
    # Guards take half a second to import; commands that only read a finished job need none.
    from ape.jobs.untranslated_text import find_untranslated_text

    if row.state is ParagraphState.SKIPPED and not row.planned.source:
        return ""
    return find_untranslated_text(
        row.planned.source, text, source_language=job.recipe.source_language, target_language=job.recipe.target_language
    )
