"""The flags of commands that read a corpus: where its texts are, how they are parted, and how it is resampled."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ResampleUnit(StrEnum):
    """What a resample draws."""

    SEGMENT = "segment"
    DOCUMENT = "document"


ReferencesFlag = Annotated[
    list[Path] | None,
    typer.Option("--reference", help="A human translation, line by line; may be repeated."),
]
JobsFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--job", help="A finished job of `ape book edit`: its MT and its post-edit; may be repeated."
    ),
]
DocumentsFlag = Annotated[
    str,
    typer.Option(
        "--documents",
        help="How text files part documents: marks (<doc>), blank, none, or a file with an id for each line.",
    ),
]
EncodingFlag = Annotated[
    str | None, typer.Option("--encoding", help="Of text files that don't show what they are in.")
]
AllowEmptyFlag = Annotated[
    bool, typer.Option("--allow-empty", help="Take outputs without a word as they are.")
]
SamplesFlag = Annotated[int, typer.Option("--samples", min=100, help="How many resamples.")]
ResampleFlag = Annotated[
    ResampleUnit | None,
    typer.Option("--resample", help="Draw documents or segments; documents if there are five or more."),
]
