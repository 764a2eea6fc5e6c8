"""The report of a book: one HTML file with source, MT and post-edit side by side, filters, search and plots."""

from __future__ import annotations

from ape.reports.book_page import write_book_report

__all__ = ["write_book_report"]
