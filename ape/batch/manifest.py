"""The manifest of a batch: a table or JSON lines with one book on each line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from ape.errors import InputError
from ape.files.rows import describe_validation_error, read_csv, read_jsonl, read_utf8
from ape.jobs.job_files import JobFiles, job_id
from ape.passage.options import DEFAULT_MODEL_NAME
from ape.text.languages import language_tag

# How many mistakes a message lists.
_LISTED = 20


class ManifestRow(BaseModel):
    """A line of the manifest. Paths are relative to the manifest; `source` is empty for a bilingual file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mt: str
    output: str
    source: str = ""
    source_language: str | None = None
    target_language: str | None = None
    adapter: str = ""
    names: str = ""
    encoding: str | None = None
    format: str | None = None

    @field_validator("source_language", "target_language", "encoding", "format", mode="before")
    @classmethod
    def _empty_is_none(cls, given: Any) -> Any:
        return given or None

    @field_validator("mt", "output")
    @classmethod
    def _require(cls, given: str) -> str:
        if not given.strip():
            raise ValueError("must not be empty")
        return given


@dataclass(frozen=True, slots=True)
class BatchBook:
    """A book of the manifest. `names` is as in `ape book edit --names`, `adapter` a model or an alias."""

    line: int
    files: JobFiles
    output: Path
    source_language: str | None = None
    target_language: str | None = None
    adapter: str = DEFAULT_MODEL_NAME
    names: str = ""

    @property
    def key(self) -> str:
        """The id of the book in the batch, and of its job."""
        return job_id(self.files, self.output)


@dataclass(frozen=True, slots=True)
class ManifestProblem:
    """What is wrong with a line of the manifest."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


@dataclass(slots=True)
class Manifest:
    """The usable books, sorted by adapter and then as in the file, and what is wrong with the others."""

    books: list[BatchBook] = field(default_factory=list)
    problems: list[ManifestProblem] = field(default_factory=list)


def read_manifest(path: Path, *, names: str = "") -> Manifest:
    """Read a CSV, TSV or JSONL manifest and check each line; `names` is for books without their own."""
    manifest, outputs = Manifest(), dict[Path, int]()
    for line, values in _lines(path):
        try:
            book = _book(line, ManifestRow.model_validate(values), path.parent, names)
            _check(book, outputs)
        except ValidationError as error:
            manifest.problems.append(ManifestProblem(line, describe_validation_error(error)))
        except InputError as error:
            manifest.problems.append(ManifestProblem(line, str(error)))
        else:
            manifest.books.append(book)
    if not (manifest.books or manifest.problems):
        raise InputError(f"{path.name} lists no books.", field="manifest")
    manifest.books.sort(key=lambda book: book.adapter)
    return manifest


def refuse_problems(problems: Sequence[ManifestProblem]) -> None:
    """Raise InputError that lists the problems, if there are any."""
    if not problems:
        return
    listed = [f"  {one}" for one in sorted(problems, key=lambda one: one.line)[:_LISTED]]
    more = [f"  … and {len(problems) - _LISTED:,} more"] if len(problems) > _LISTED else []
    count = f"{len(problems):,} book{'s' * (len(problems) > 1)} of the manifest can't be edited"
    raise InputError("\n".join([f"{count} (--skip leaves them out):", *listed, *more]), field="manifest")


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if path.suffix.lower() in (".jsonl", ".ndjson", ".json"):
        return read_jsonl(path, field="manifest")
    return read_csv(read_utf8(path, field="manifest"), path.name, required=("mt", "output"), field="manifest")


def _book(line: int, row: ManifestRow, folder: Path, names: str) -> BatchBook:
    def place(name: str) -> Path:
        return folder / Path(name.strip()).expanduser()

    own_names = row.names if row.names in ("", "auto", "none") else str(place(row.names))
    return BatchBook(
        line,
        JobFiles(place(row.source) if row.source else None, place(row.mt), row.encoding, row.format),
        place(row.output),
        row.source_language and language_tag(row.source_language),
        row.target_language and language_tag(row.target_language),
        row.adapter or DEFAULT_MODEL_NAME,
        own_names or names,
    )


def _check(book: BatchBook, outputs: dict[Path, int]) -> None:
    """Raise InputError where a file is missing, or the output is an input or that of another book."""
    for path in book.files.paths:
        if not path.is_file():
            raise InputError(f"There is no file {path}.")
    output = book.output.resolve()
    if output in (path.resolve() for path in book.files.paths):
        raise InputError(f"{book.output} is the input itself. Choose another name for the output.")
    if first := outputs.get(output):
        raise InputError(f"{book.output} is the output of line {first} too.")
    if not book.output.parent.is_dir():
        raise InputError(f"There is no folder {book.output.parent}. Make it first.")
    outputs[output] = book.line


def book_to_json(book: BatchBook) -> str:
    """The book as stored with a plan."""
    files = book.files
    return json.dumps(
        {
            "line": book.line,
            "source": str(files.source.resolve()) if files.source else "",
            "mt": str(files.mt.resolve()),
            "encoding": files.encoding,
            "format": files.format,
            "output": str(book.output.resolve()),
            "source_language": book.source_language,
            "target_language": book.target_language,
            "adapter": book.adapter,
            "names": book.names,
        },
        ensure_ascii=False,
    )


def book_from_json(text: str) -> BatchBook:
    """Parse the stored book."""
    row = json.loads(text)
    source = Path(row["source"]) if row["source"] else None
    return BatchBook(
        row["line"],
        JobFiles(source, Path(row["mt"]), row["encoding"], row["format"]),
        Path(row["output"]),
        row["source_language"],
        row["target_language"],
        row["adapter"],
        row["names"],
    )
