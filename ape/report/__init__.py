"""The report of a book: one HTML file with source, MT and post-edit side by side, filters, search and plots."""

from __future__ import annotations

from ape.report.page import write_report

__all__ = ["write_report"]
