"""F1 of tags, corrected by verdicts on disagreements."""

from __future__ import annotations

import pytest

from benchmarks.studies.tense_verdicts import VERDICTS, corrected_f1, read_verdicts


def test_only_our_own_errors_count() -> None:
    # Of ten disagreements in a hundred words, four are ours.
    assert corrected_f1(0.90, 0.4) == pytest.approx(0.96)


def test_the_shipped_verdicts_are_a_hundred() -> None:
    counts = read_verdicts()
    assert counts.total() == 100
    assert set(counts) <= set(VERDICTS)
