"""What votes say, as one page: rates with intervals, strengths, raters, and all numbers as text."""

from eval.human.report.page import write_analysis_page

__all__ = ["write_analysis_page"]
