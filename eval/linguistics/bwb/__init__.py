"""Readers for the BWB annotations of novels: mentions, omissions, speakers, and errors of MT."""

from __future__ import annotations

from eval.linguistics.bwb.error_lines import BwbErrorLine, read_errors
from eval.linguistics.bwb.markup import BwbMarkup, BwbQuotation, BwbSpan, parse_markup, read_markup
from eval.linguistics.bwb.names import BwbNames, read_names

__all__ = [
    "BwbErrorLine",
    "BwbMarkup",
    "BwbNames",
    "BwbQuotation",
    "BwbSpan",
    "parse_markup",
    "read_errors",
    "read_markup",
    "read_names",
]
