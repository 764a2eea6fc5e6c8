"""Flags of commands that read a corpus."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.errors import InputError

if TYPE_CHECKING:
    from eval.corpus.parallel_reader import DocumentBoundaries


class ResampleUnit(StrEnum):
    """Unit of resampling."""

    SEGMENT = "segment"
    DOCUMENT = "document"


ReferencesFlag = Annotated[
    list[Path] | None, typer.Option("--reference", help="Human translation, one segment per line; repeatable.")
]
JobsFlag = Annotated[
    list[str] | None,
    typer.Option("--job", help="Finished job of `ape book edit`, as its MT and post-edit; repeatable."),
]
DocumentsFlag = Annotated[
    str,
    typer.Option(
        "--documents",
        help="Document boundaries in text files: marks (<doc>), blank, none, or a file with an id per line.",
    ),
]
EncodingFlag = Annotated[str | None, typer.Option("--encoding", help="Encoding of text files; detected by default.")]
AllowEmptyFlag = Annotated[bool, typer.Option("--allow-empty", help="Accept empty outputs.")]
SamplesFlag = Annotated[int, typer.Option("--samples", min=100, help="Number of resamples.")]
ResampleFlag = Annotated[
    ResampleUnit | None,
    typer.Option("--resample", help="Unit to resample; by default documents if there are five or more."),
]


def parse_systems(entries: Iterable[str], *, names_alone: bool = True) -> tuple[list[str], dict[str, Path]]:
    """The names of all systems of --system, and the files of those that have one."""
    names, files = [], {}
    for entry in entries:
        name, sign, path = entry.partition("=")
        if not name or bool(sign) != bool(path) or not (sign or names_alone):
            form = "NAME or NAME=FILE" if names_alone else "NAME=FILE"
            raise InputError(f"--system {entry!r} is not {form}.", field="system")
        if name in names:
            raise InputError(f"Two systems are called {name!r}.", field="system")
        names.append(name)
        if path:
            files[name] = Path(path)
    return names, files


def parse_documents(documents: str) -> DocumentBoundaries:
    """The value of --documents."""
    if documents in ("auto", "marks", "blank", "none"):
        return documents  # type: ignore[return-value]  # it is one of the literals
    if not Path(documents).is_file():
        raise InputError(
            f"--documents is auto, marks, blank, none or a file: there is no {documents}.", field="documents"
        )
    return Path(documents)
