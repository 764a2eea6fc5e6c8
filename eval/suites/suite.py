"""A suite: a published test set run on systems' outputs, with a table like its paper's, and the paper's rows in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """A line of a table: a system's numbers by column, None where there is nothing to measure."""

    name: str
    cells: Mapping[str, float | None]
    published: bool = False
    """From the paper, and not measured here."""
    undecided: Mapping[str, int] = field(default_factory=dict)
    """By column, so many cases of which an automatic check could not tell; they are not in the number."""


@dataclass(frozen=True, slots=True)
class SuiteTable:
    """What a paper shows, with what we measured first."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[SuiteRow, ...]
    note: str = ""
    of: str = "system"
    """What a row is of."""

    @property
    def undecided(self) -> bool:
        """Whether there is anything to say about undecided cases."""
        return any(count for row in self.rows for count in row.undecided.values())


@dataclass(frozen=True, slots=True)
class SuiteFigure:
    """A figure for the page, drawn when it is asked for."""

    title: str
    draw: Callable[[Path], None]
    """Writes a PNG."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """All tables of a suite, how the numbers were got, and every verdict for who wants to look."""

    suite: str
    tables: tuple[SuiteTable, ...]
    signatures: Mapping[str, str]
    paper: str
    cases: tuple[Mapping[str, Any], ...] = ()
    slips: tuple[str, ...] = ()
    """Of the annotators whose work the data is: file, line, column, and what is wrong there."""
    pictures: tuple[SuiteFigure, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON; without the cases."""
        return {
            "suite": self.suite,
            "paper": self.paper,
            "signatures": dict(self.signatures),
            "slips": list(self.slips),
            "tables": [
                {
                    "title": table.title,
                    "note": table.note,
                    "columns": list(table.columns),
                    "rows": [
                        {
                            table.of: row.name,
                            "published": row.published,
                            "cells": dict(row.cells),
                            "undecided": dict(row.undecided),
                        }
                        for row in table.rows
                    ],
                }
                for table in self.tables
            ],
        }


class Suite(Protocol):
    """Where its data comes from, and how it is run."""

    @property
    def name(self) -> str:
        """As typed after `ape eval suite`."""

    @property
    def paper(self) -> str:
        """Whose it is."""

    @property
    def where(self) -> str:
        """How to get the data, as a sentence."""

    def run(self, data: Path, systems: Mapping[str, Path]) -> SuiteResult:
        """Score the outputs in these files; the references are scored too, as a check of the suite itself."""


def accuracy_percent(right: int, decided: int) -> float | None:
    """A percentage, or None of nothing."""
    return 100 * right / decided if decided else None


def published_rows(rows: Mapping[str, Sequence[float | None]], columns: Sequence[str]) -> list[SuiteRow]:
    """Rows of a paper, by system."""
    return [
        SuiteRow(name, dict(zip(columns, values, strict=True)), published=True)
        for name, values in rows.items()
    ]
