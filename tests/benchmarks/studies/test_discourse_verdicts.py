"""The labelled sample of discourse checks."""

from __future__ import annotations

from collections import Counter

from benchmarks.studies.discourse_verdicts.__main__ import precision_table, read_verdicts


def test_every_case_has_a_verdict_and_is_listed_once() -> None:
    rows = read_verdicts()
    assert {row["verdict"] for row in rows} == {"error", "none"}
    assert {row["sample"] for row in rows} == {"fitted", "unseen"}
    places = Counter(tuple(value for name, value in row.items() if name != "verdict") for row in rows)
    assert max(places.values()) == 1


def test_precision_is_printed_for_each_sample_with_its_interval() -> None:
    # Of 18 cases without a miss, Clopper-Pearson's lower bound is .025 ** (1 / 18) = .81.
    assert "pronouns     wrong         unseen   18 of  18  1.00 [0.81, 1.00]" in list(precision_table())
