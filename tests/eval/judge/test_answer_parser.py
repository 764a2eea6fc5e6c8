"""Parser of verdicts, and reasons for missing ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.passage.segment import Draft
from eval.judge import Unscored, Verdict
from eval.judge.answer_parser import last_tagged, read_verdict


@pytest.mark.parametrize(
    ("answer", "choice"),
    [
        ("<verdict>A</verdict>", "first"),
        ("A is livelier.\n<verdict>B</verdict>", "second"),
        ("<verdict>tie</verdict>", "tie"),
        ("<Verdict> **B** </Verdict>.", "second"),
        ("<verdict>\nTranslation A\n</verdict>", "first"),
        ("So: <verdict>b", "second"),
        ("B", "second"),
        ("**A.**", "first"),
    ],
)
def test_a_verdict_is_read_from_surrounding_text(answer: str, choice: str) -> None:
    assert read_verdict(Draft(answer), ties=True) == Verdict(choice, (answer,))  # type: ignore[arg-type]


def test_the_last_verdict_counts() -> None:
    answer = (
        "At first sight I would write <verdict>A</verdict>, and the verdict of most would be A: tie is too easy.\n"
        "But A loses the second sentence. <verdict>B</verdict>"
    )
    assert read_verdict(Draft(answer), ties=True) == Verdict("second", (answer,))


def test_verdicts_in_marked_reasoning_are_ignored() -> None:
    thought = "<think>Perhaps <verdict>A</verdict>? No.</think>"
    assert read_verdict(Draft(f"{thought}\n<verdict>B</verdict>"), ties=True) == Verdict(
        "second", (f"{thought}\n<verdict>B</verdict>",)
    )
    assert read_verdict(Draft(thought), ties=True) == Unscored("no_verdict", (thought,))
    endless = "<think>Perhaps <verdict>A</verdict>? Or"
    assert read_verdict(Draft(endless, "length"), ties=True) == Unscored("cut_off", (endless,))


@pytest.mark.parametrize(
    ("answer", "finish", "why"),
    [
        ("Both have their merits.", "stop", "no_verdict"),
        ("", "stop", "no_verdict"),
        ("A is better than B.", "stop", "no_verdict"),
        ("<verdict></verdict>", "stop", "no_verdict"),
        ("Let me go through it sentence by sent", "length", "cut_off"),
        ("<verdict>", "length", "cut_off"),
        ("<verdict>C</verdict>", "stop", "off_menu"),
        ("<verdict>A or B</verdict>", "stop", "off_menu"),
        ("<verdict>X</verdict>, with A or B in the place of X", "stop", "off_menu"),
        ("<verdict>A</verdict> But then again, <verdict>neither</verdict>", "stop", "off_menu"),
    ],
)
def test_a_missing_verdict_has_a_reason_and_the_answer(answer: str, finish: str, why: str) -> None:
    assert read_verdict(Draft(answer, finish), ties=True) == Unscored(why, (answer,))  # type: ignore[arg-type]


def test_a_tie_is_off_menu_where_ties_are_not_allowed() -> None:
    answer = "<verdict>tie</verdict>"
    assert read_verdict(Draft(answer), ties=False) == Unscored("off_menu", (answer,))


@given(st.text(), st.sampled_from(["A", "B", "tie"]))
def test_the_last_verdict_is_found_after_any_text(before: str, letter: str) -> None:
    found = last_tagged("verdict", f"{before}<verdict>{letter}</verdict>")
    assert found == letter


@given(st.text(alphabet="<>/verdictABC \n"))
def test_no_answer_breaks_the_parser(answer: str) -> None:
    assert isinstance(read_verdict(Draft(answer), ties=True), Verdict | Unscored)
