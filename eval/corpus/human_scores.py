"""Reader for files of human scores.

A row is one system's translation of one sentence with the score a person gave it. Systems need not translate the same
sentences, so each has its own corpus; the sheets are its documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.corpus.raw_document import numbered_lines
from eval.statistics.counts import FloatArray


@dataclass(frozen=True, slots=True)
class RatedSystem:
    """One system's translations of some sentences with their human scores (higher is better)."""

    corpus: Corpus
    system: str
    scores: Mapping[str, FloatArray]
    """Scores of the segments by name: "score" and, where the file has them, "zpr", "semantic", "other"."""
    sentences: tuple[str, ...]
    """The sentence of each segment, shared between systems."""
    documents: tuple[str, ...] = ()
    """The document of each segment; empty where documents are unknown."""


class RatingRow(BaseModel):
    """One system's translation of one sentence with its scores."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)
    sheet: str = ""
    sent: str
    system: str
    src: str
    ref: str = Field(min_length=1)
    document: str = Field("", validation_alias=AliasChoices("document", "doc"))
    hyp: str
    score: FiniteFloat
    semantic: FiniteFloat | None = None
    zpr: FiniteFloat | None = None
    other: FiniteFloat | None = None


_SCORE_NAMES = ("score", "semantic", "zpr", "other")


def read_human_scores(
    path: Path, *, source_language: str = "zh", target_language: str = "en"
) -> tuple[RatedSystem, ...]:
    """The systems of a file of JSON lines, each with its sentences in file order."""
    rows = (_parse(line, f"Line {number} of {path.name}") for number, line in numbered_lines(path) if line.strip())
    return group_ratings(rows, source_language, target_language, place=path.name)


def group_ratings(
    given: Iterable[RatingRow], source_language: str, target_language: str, *, place: str
) -> tuple[RatedSystem, ...]:
    """The systems of these rows."""
    rows: dict[str, dict[str, list[RatingRow]]] = {}
    for row in given:
        rows.setdefault(row.system, {}).setdefault(row.sheet, []).append(row)
    if not rows:
        raise InputError(f"{place} has no scores.", field="scores")
    return tuple(_rated_system(name, sheets, (source_language, target_language)) for name, sheets in rows.items())


def _parse(line: str, place: str) -> RatingRow:
    try:
        return RatingRow.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        if not name:
            raise InputError(f"{place} is not a JSON object: {first['msg']}.", field="scores") from error
        if first["type"] == "missing":
            raise InputError(f"{place}: there is no {name}.", field="scores") from error
        raise InputError(
            f"{place}: {name} is {json.dumps(first['input'], ensure_ascii=False)[:40]}: {first['msg']}. Leave "
            "out fields without a score.",
            field="scores",
        ) from error


def _rated_system(system: str, sheets: Mapping[str, Sequence[RatingRow]], languages: tuple[str, str]) -> RatedSystem:
    documents = tuple(
        Document(
            sheet,
            {system: tuple(row.hyp for row in rows)},
            (tuple(row.ref for row in rows),) if all(row.ref for row in rows) else (),
            tuple(row.src for row in rows),
        )
        for sheet, rows in sheets.items()
    )
    every = [row for rows in sheets.values() for row in rows]
    columns = {name: [getattr(row, name) for row in every] for name in _SCORE_NAMES}
    scores = {name: np.asarray(values, float) for name, values in columns.items() if None not in values}
    sentences = tuple(f"{row.sheet} {row.sent}" for row in every)
    known = tuple(row.document for row in every) if all(row.document for row in every) else ()
    return RatedSystem(Corpus(documents, *languages, system), system, scores, sentences, known)
