"""HTML report of a vote analysis."""

from eval.human.report.page import write_analysis_page

__all__ = ["write_analysis_page"]
