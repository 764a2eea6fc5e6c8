"""The score table: scores by pair, always including the unedited MT, with valid p-values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from finetune.data.example import Example
from finetune.scoring.score_table import BASELINE_NAME, ScoreTable, SystemRow, score_systems

MT = "the old man walk slowly to the harbour every morning with his dog"
HUMAN = "the old man walks slowly to the harbour every morning with his dog"
EXAMPLES = [
    Example(f"{at}", "b", "s", f"{MT} {at}", f"{HUMAN} {at}", "et" if at % 2 else "ro", "en") for at in range(40)
]


def row(results: ScoreTable, pair: str, system: str) -> SystemRow:
    (found,) = [one for one in results.rows if (one.pair, one.system) == (pair, system)]
    return found


def ter(results: ScoreTable, pair: str, system: str) -> float:
    return row(results, pair, system).cells[0].score


def test_the_human_text_has_no_errors_and_the_mt_has_one_in_fourteen() -> None:
    results = score_systems(EXAMPLES, {"human": [one.human for one in EXAMPLES]}, samples=100)
    assert ter(results, "all", "human") == 0.0
    assert ter(results, "all", BASELINE_NAME) == pytest.approx(100 / 14)  # by hand: 1 of 14 words
    assert row(results, "et-en", "human").edited == 1.0
    cell = row(results, "all", "human").cells[0]
    assert cell.difference == pytest.approx(-100 / 14)
    assert cell.p_value is not None
    assert cell.p_value < 0.05


def test_a_system_that_does_nothing_is_not_different_from_doing_nothing() -> None:
    results = score_systems(EXAMPLES, {"idle": [one.mt for one in EXAMPLES]}, samples=100)
    for cell in row(results, "all", "idle").cells:
        assert (cell.difference, cell.p_value) == (0.0, 1.0)
    assert row(results, "all", "idle").edited == 0.0


def test_capitals_alone_do_not_change_ter_and_are_not_called_significant() -> None:
    results = score_systems(EXAMPLES, {"loud": [one.mt.upper() for one in EXAMPLES]}, samples=100)
    cell = row(results, "all", "loud").cells[0]
    assert (cell.metric, cell.difference, cell.p_value) == ("TER", 0.0, 1.0)


def test_every_metric_has_its_signature_and_every_pair_its_rows() -> None:
    results = score_systems(EXAMPLES, {"human": [one.human for one in EXAMPLES]}, samples=100)
    assert set(results.signatures) == {"TER", "BLEU", "chrF"}
    assert all("version:" in signature for signature in results.signatures.values())
    assert [one.pair for one in results.rows] == ["ro-en", "ro-en", "et-en", "et-en", "all", "all"]


def test_a_system_on_some_of_the_passages_is_compared_with_doing_nothing_on_just_these() -> None:
    """The MT of the first half has an error, that of the second half has none."""
    mixed = [one if at < 20 else replace(one, mt=one.human) for at, one in enumerate(EXAMPLES)]
    few = mixed[:20]
    whole = score_systems(mixed, {"tuned": [one.mt for one in mixed]}, samples=100)
    results = whole.joined_with(score_systems(few, {"untuned": [one.mt for one in few]}, of=mixed, samples=100))
    of_all = [one for one in results.rows if one.pair == "all"]
    assert [(one.system, one.passages, one.of) for one in of_all] == [
        (BASELINE_NAME, 40, 40),
        ("tuned", 40, 40),
        (BASELINE_NAME, 20, 40),
        ("untuned", 20, 40),
    ]
    assert of_all[0].cells[0].score == pytest.approx(100 / 28)  # by hand: 1 of 14 words, in every second passage
    assert of_all[2].cells[0].score == of_all[3].cells[0].score == pytest.approx(100 / 14)
    assert [(cell.difference, cell.p_value) for cell in of_all[3].cells] == [(0.0, 1.0)] * 3
    assert [one.pair for one in results.rows] == ["ro-en"] * 4 + ["et-en"] * 4 + ["all"] * 4


def test_doing_nothing_on_all_the_passages_is_told_once() -> None:
    idle = [one.mt for one in EXAMPLES]
    results = score_systems(EXAMPLES, {"tuned": idle}, samples=50)
    results = results.joined_with(score_systems(EXAMPLES, {"untuned": idle}, of=EXAMPLES, samples=50))
    assert [one.system for one in results.rows if one.pair == "all"] == [BASELINE_NAME, "tuned", "untuned"]
