"""Statistical analysis of votes, each result with its interval."""

from __future__ import annotations

from eval.human.analysis.analysis import VoteAnalysis, analyse_votes, format_analysis

__all__ = ["VoteAnalysis", "analyse_votes", "format_analysis"]
