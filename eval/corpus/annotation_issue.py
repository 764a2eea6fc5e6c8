"""A slip of an annotator: where it is and what is wrong. None is dropped in silence, and none stops the reading."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class AnnotationIssue:
    """Line and column count from 1, as an editor shows them."""

    line: int
    column: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.what}"
