"""A mistake in a file of human annotation. Readers collect these; none is dropped silently or stops the reader."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class AnnotationIssue:
    """Where the mistake is and what is wrong. Line and column count from 1."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"
