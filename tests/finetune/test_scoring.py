"""The table: scores by pair with doing nothing always among them, and p-values that can be believed."""

from __future__ import annotations

import pytest

from finetune.example import Example
from finetune.scoring import BASELINE, Results, Row, score

MT = "the old man walk slowly to the harbour every morning with his dog"
HUMAN = "the old man walks slowly to the harbour every morning with his dog"
EXAMPLES = [
    Example(f"{at}", "b", "s", f"{MT} {at}", f"{HUMAN} {at}", "et" if at % 2 else "ro", "en")
    for at in range(40)
]


def row(results: Results, pair: str, system: str) -> Row:
    (found,) = [one for one in results.rows if (one.pair, one.system) == (pair, system)]
    return found


def ter(results: Results, pair: str, system: str) -> float:
    return row(results, pair, system).cells[0].score


def test_the_human_text_has_no_errors_and_the_mt_has_one_in_fourteen() -> None:
    results = score(EXAMPLES, {"human": [one.human for one in EXAMPLES]}, samples=100)
    assert ter(results, "all", "human") == 0.0
    assert ter(results, "all", BASELINE) == pytest.approx(100 / 14)  # by hand: 1 of 14 words
    assert row(results, "et-en", "human").edited == 1.0
    cell = row(results, "all", "human").cells[0]
    assert cell.difference == pytest.approx(-100 / 14)
    assert cell.p_value is not None
    assert cell.p_value < 0.05


def test_a_system_that_does_nothing_is_not_different_from_doing_nothing() -> None:
    results = score(EXAMPLES, {"idle": [one.mt for one in EXAMPLES]}, samples=100)
    for cell in row(results, "all", "idle").cells:
        assert (cell.difference, cell.p_value) == (0.0, 1.0)
    assert row(results, "all", "idle").edited == 0.0


def test_capitals_alone_do_not_change_ter_and_are_not_called_significant() -> None:
    results = score(EXAMPLES, {"loud": [one.mt.upper() for one in EXAMPLES]}, samples=100)
    cell = row(results, "all", "loud").cells[0]
    assert (cell.metric, cell.difference, cell.p_value) == ("TER", 0.0, 1.0)


def test_every_metric_has_its_signature_and_every_pair_its_rows() -> None:
    results = score(EXAMPLES, {"human": [one.human for one in EXAMPLES]}, samples=100)
    assert set(results.signatures) == {"TER", "BLEU", "chrF"}
    assert all("version:" in signature for signature in results.signatures.values())
    assert [one.pair for one in results.rows] == ["ro-en", "ro-en", "et-en", "et-en", "all", "all"]
