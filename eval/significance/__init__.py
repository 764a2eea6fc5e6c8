"""Whether a difference means something: resampling tests for every metric, rank tests, and corrections for many."""

from __future__ import annotations

from eval.significance.many import Standing, holm, standings
from eval.significance.paired import Comparison, Interval, category, compare, interval, part_intervals
from eval.significance.ranks import Correlation, SignedRanks, kendall, wilcoxon_pratt

__all__ = [
    "Comparison",
    "Correlation",
    "Interval",
    "SignedRanks",
    "Standing",
    "category",
    "compare",
    "holm",
    "interval",
    "kendall",
    "part_intervals",
    "standings",
    "wilcoxon_pratt",
]
