"""What changed between the MT and its post-edit."""
from __future__ import annotations
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """One change."""

    kind: str
    before: str
    after: str
    mt_span: tuple[int, int]
    span: tuple[int, int]
