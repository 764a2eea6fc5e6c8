"""What votes say, as one page: rates with intervals, strengths, raters, and all numbers as text."""

from eval.ab.report.page import write_analysis

__all__ = ["write_analysis"]
