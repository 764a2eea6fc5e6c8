"""The last verdict counts, and what is none is told apart by its reason."""

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
def test_a_verdict_is_read_with_what_models_write_around_it(answer: str, choice: str) -> None:
    assert read_verdict(Draft(answer), ties=True) == Verdict(choice, (answer,))  # type: ignore[arg-type]


def test_the_last_verdict_counts_and_not_those_of_the_reasoning() -> None:
    answer = (
        "At first sight I would write <verdict>A</verdict>, and the verdict of most would be A: tie is too easy.\n"
        "But A loses the second sentence. <verdict>B</verdict>"
    )
    assert read_verdict(Draft(answer), ties=True) == Verdict("second", (answer,))


def test_thoughts_are_no_answer() -> None:
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
def test_what_is_no_verdict_has_its_reason_and_is_kept(answer: str, finish: str, why: str) -> None:
    assert read_verdict(Draft(answer, finish), ties=True) == Unscored(why, (answer,))  # type: ignore[arg-type]


def test_a_tie_is_off_the_menu_where_none_was_offered() -> None:
    answer = "<verdict>tie</verdict>"
    assert read_verdict(Draft(answer), ties=False) == Unscored("off_menu", (answer,))


@given(st.text(), st.sampled_from(["A", "B", "tie"]))
def test_whatever_is_said_before_it_the_last_verdict_is_found(before: str, letter: str) -> None:
    said = last_tagged("verdict", f"{before}<verdict>{letter}</verdict>")
    assert said == letter


@given(st.text(alphabet="<>/verdictABC \n"))
def test_no_answer_breaks_the_reader(answer: str) -> None:
    assert isinstance(read_verdict(Draft(answer), ties=True), Verdict | Unscored)
