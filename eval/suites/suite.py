"""The protocol of a suite: a published test set with tables like its paper's, including the paper's rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One row of a table: a system's numbers by column, None where undefined."""

    name: str
    cells: Mapping[str, float | None]
    published: bool = False
    """Whether the row is from the paper."""
    undecided: Mapping[str, int] = field(default_factory=dict)
    """By column, the number of cases that an automatic check left undecided."""
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By column, the lowest and highest value: of undecided cases as wrong and as right, or over seeds."""


@dataclass(frozen=True, slots=True)
class SuiteTable:
    """A table of the paper, with our rows first."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[SuiteRow, ...]
    note: str = ""
    row_label: str = "system"
    """What a row is."""

    @property
    def undecided(self) -> bool:
        """Whether any row has undecided cases."""
        return any(count for row in self.rows for count in row.undecided.values())


@dataclass(frozen=True, slots=True)
class SuiteFigure:
    """A figure for the page, drawn on demand."""

    title: str
    draw: Callable[[Path], None]
    """Writes a PNG."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """All tables of a suite, their signatures, and every verdict."""

    suite: str
    tables: tuple[SuiteTable, ...]
    signatures: Mapping[str, str]
    paper: str
    cases: tuple[Mapping[str, Any], ...] = ()
    annotation_issues: tuple[str, ...] = ()
    """Annotation issues in the data: file, line, column and message."""
    pictures: tuple[SuiteFigure, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON, without the cases."""
        return {
            "suite": self.suite,
            "paper": self.paper,
            "signatures": dict(self.signatures),
            "slips": list(self.annotation_issues),
            "tables": [
                {
                    "title": table.title,
                    "note": table.note,
                    "columns": list(table.columns),
                    "rows": [
                        {
                            table.row_label: row.name,
                            "published": row.published,
                            "cells": dict(row.cells),
                            "undecided": dict(row.undecided),
                            "bounds": {column: list(ends) for column, ends in row.bounds.items()},
                        }
                        for row in table.rows
                    ],
                }
                for table in self.tables
            ],
        }


class Suite(Protocol):
    """A test set: where its data comes from, and how to run it."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def paper(self) -> str:
        """The citation."""

    @property
    def data_source(self) -> str:
        """How to get the data, as a sentence."""

    def run(self, data: Path, systems: Mapping[str, Path]) -> SuiteResult:
        """Score the outputs in these files; the references are scored too, as a check of the suite."""


MAX_UNDECIDED = 0.1
"""The largest share of undecided cases with a point value; above it only the bounds are meaningful."""


def accuracy_row(name: str, counts: Mapping[str, tuple[int, int, int]]) -> SuiteRow:
    """A row of percentages from (right, wrong, undecided) of each column.

    The bounds count undecided cases as wrong, and as right. The point value is of the decided cases; there is none
    above MAX_UNDECIDED, since a system that avoids every decision would get 100.
    """
    cells: dict[str, float | None] = {}
    bounds = {}
    for column, (right, wrong, undecided) in counts.items():
        cases = right + wrong + undecided
        known = right + wrong > 0 and undecided <= MAX_UNDECIDED * cases
        cells[column] = 100 * right / (right + wrong) if known else None
        if undecided:
            bounds[column] = (100 * right / cases, 100 * (right + undecided) / cases)
    return SuiteRow(name, cells, undecided={column: count[2] for column, count in counts.items()}, bounds=bounds)


def published_rows(rows: Mapping[str, Sequence[float | None]], columns: Sequence[str]) -> list[SuiteRow]:
    """Rows of a paper, by system."""
    return [SuiteRow(name, dict(zip(columns, values, strict=True)), published=True) for name, values in rows.items()]
