"""The report of a measurement: one HTML file with the table, plots, and the passages that moved each score most."""

from __future__ import annotations

from eval.report.page import write_report

__all__ = ["write_report"]
