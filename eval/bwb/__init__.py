"""The BWB annotations of novels: who is mentioned where, what is left out, who speaks, and what MT made of it."""

from __future__ import annotations

from eval.bwb.entities import Entities
from eval.bwb.errors import ErrorLine, read_errors
from eval.bwb.markup import Marked, Quotation, Slip, Span, parse, read_marked
from eval.bwb.names import Names, read_names
from eval.bwb.phenomena import Phenomena

__all__ = [
    "Entities",
    "ErrorLine",
    "Marked",
    "Names",
    "Phenomena",
    "Quotation",
    "Slip",
    "Span",
    "parse",
    "read_errors",
    "read_marked",
    "read_names",
]
