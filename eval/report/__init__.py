"""Evaluation report: scores, plots and the most influential passages on one page."""

from __future__ import annotations

from eval.report.page import write_report

__all__ = ["write_report"]
