"""The rows of a batch: a stretch as planned, and as finished."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

import pyarrow as pa
from sqlalchemy import RowMapping

from ape.files.hashing import hash_json
from ape.jobs.job import JobRecipe
from ape.jobs.job_paragraph import PlannedParagraph
from ape.jobs.result_rows import read_result, result_columns
from ape.passage.result import PostEdit

_TEXTS = ("id", "book", "adapter", "recipe", "names", "paragraphs", "before")
STRETCH_SCHEMA = pa.schema([(name, pa.string()) for name in _TEXTS])
RESULT_SCHEMA = pa.schema([(name, pa.string()) for name in ("id", "book", "results")])

_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class BatchStretch:
    """A stretch to post-edit, with all that decides its result.

    `names` is the hash of the book's ledger, if it has one. `before` are the paragraphs just before the stretch.
    """

    id: str
    book: str
    adapter: str
    recipe: JobRecipe
    names: str
    paragraphs: tuple[PlannedParagraph, ...]
    before: tuple[PlannedParagraph, ...]

    def to_row(self) -> dict[str, str]:
        """The stretch as a row of the plan."""
        return {
            "id": self.id,
            "book": self.book,
            "adapter": self.adapter,
            "recipe": self.recipe.to_json(),
            "names": self.names,
            "paragraphs": _dumps([asdict(one) for one in self.paragraphs]),
            "before": _dumps([asdict(one) for one in self.before]),
        }

    @classmethod
    def from_row(cls, row: Mapping[str, str]) -> BatchStretch:
        """Parse a row of the plan."""
        return cls(
            row["id"],
            row["book"],
            row["adapter"],
            recipe_from_json(row["recipe"]),
            row["names"],
            tuple(PlannedParagraph(**one) for one in json.loads(row["paragraphs"])),
            tuple(PlannedParagraph(**one) for one in json.loads(row["before"])),
        )


def stretch_id(
    book: str, recipe: JobRecipe, paragraphs: tuple[PlannedParagraph, ...], before: tuple[PlannedParagraph, ...]
) -> str:
    """The fingerprint of everything that decides the results of a stretch, and of the book that it is in."""
    decisive = [(one.id, one.fingerprint, one.skip) for one in paragraphs]
    context = [(one.source, one.mt) for one in before]
    return hash_json([book, recipe.to_json(), decisive, context], length=32, errors="replace")


def recipe_from_json(text: str) -> JobRecipe:
    """Parse a stored recipe."""
    values = json.loads(text)
    values["glossary"] = tuple(map(tuple, values["glossary"]))
    return JobRecipe(**values)


@dataclass(frozen=True, slots=True)
class FinishedParagraph:
    """The result of a paragraph, known by its id and fingerprint."""

    id: str
    fingerprint: str
    result: PostEdit
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """As stored in records and results."""
        return {"id": self.id, "fingerprint": self.fingerprint, "seconds": self.seconds, **result_columns(self.result)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> FinishedParagraph:
        """Parse a stored result."""
        result = read_result(cast(RowMapping, values))
        return cls(values["id"], values["fingerprint"], result, values["seconds"])


def results_to_json(results: list[FinishedParagraph]) -> str:
    """The results of a stretch, in order."""
    return _dumps([one.to_json() for one in results])


def results_from_json(text: str) -> list[FinishedParagraph]:
    """Parse the results of a stretch."""
    return [FinishedParagraph.from_json(one) for one in json.loads(text)]
