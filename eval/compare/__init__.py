"""Comparison of systems over one set, always including the unchanged MT."""

from __future__ import annotations

from eval.compare.comparison import ComparisonResampling, SystemComparison, compare_systems
from eval.compare.comparison_set import DO_NOTHING, ComparisonSet, build_comparison_set
from eval.compare.system import ParagraphOutcome, System, ready_system

__all__ = [
    "DO_NOTHING",
    "ComparisonResampling",
    "ComparisonSet",
    "ParagraphOutcome",
    "System",
    "SystemComparison",
    "build_comparison_set",
    "compare_systems",
    "ready_system",
]
