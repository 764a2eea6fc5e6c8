"""Inline marks: none missing, none repeated, properly nested."""

from __future__ import annotations

import pytest

from ape.edits.diff import apply_edits, find_edits
from ape.guards import check_draft
from ape.passage.segment import Draft, Segment
from ape.text.inline_marks import (
    closing_mark,
    describe_misplaced_marks,
    find_marks,
    opening_mark,
    standalone_mark,
    strip_marks,
)
from ape.text.tokens import words

MT = "The ⟦1⟧Swan⟦/1⟧ left at nine.⟦2/⟧"


def test_marks_are_written_as_they_are_read() -> None:
    text = f"{opening_mark(1)}a{closing_mark(1)} b{standalone_mark(2)}"
    assert find_marks(text) == ["⟦1⟧", "⟦/1⟧", "⟦2/⟧"]
    assert strip_marks(text) == "a b"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (MT, ""),
        ("At nine⟦2/⟧ the ⟦1⟧Swan⟦/1⟧ left.", ""),
        ("The Swan left at nine.⟦2/⟧", "⟦1⟧ is missing"),
        ("The ⟦1⟧Swan⟦/1⟧ left at nine.", "⟦2/⟧ is missing"),
        ("The ⟦1⟧Swan⟦/1⟧ left⟦2/⟧ at nine.⟦2/⟧", "too often"),
        ("The ⟦/1⟧Swan⟦1⟧ left at nine.⟦2/⟧", "closes an element that is not open"),
        ("The ⟦1⟧Swan⟦/1⟧ ⟦3⟧left⟦/3⟧ at nine.⟦2/⟧", "too often"),
    ],
)
def test_misplaced_marks_are_described(text: str, complaint: str) -> None:
    found = describe_misplaced_marks(text, MT)
    assert complaint in found
    assert bool(found) == bool(complaint)


def test_marks_that_the_mt_misplaces_need_only_be_present() -> None:
    assert describe_misplaced_marks("b⟦/1⟧ a⟦1⟧", "a⟦/1⟧ b⟦1⟧") == ""


def test_crossed_pairs_are_refused() -> None:
    assert "closes" in describe_misplaced_marks("⟦1⟧a⟦2⟧b⟦/1⟧c⟦/2⟧", "⟦1⟧a⟦2⟧b⟦/2⟧c⟦/1⟧")


def test_a_mark_is_neither_a_word_nor_a_number() -> None:
    assert words(MT) == ["The", "Swan", "left", "at", "nine"]
    segment = Segment("« Le Cygne » partit à neuf heures.", MT, "fr", "en")
    assert check_draft(segment, Draft("The ⟦1⟧Swan⟦/1⟧ departed at nine.⟦2/⟧")) == ()


def test_a_draft_that_loses_a_mark_is_refused_though_the_source_has_none() -> None:
    segment = Segment("Le Cygne partit à neuf heures.", MT, "fr", "en")
    refused = check_draft(segment, Draft("The Swan departed at nine.⟦2/⟧"))
    assert [finding.guard for finding in refused] == ["placeholders"]


def test_a_diff_never_splits_a_mark() -> None:
    new = "The old ⟦1⟧Swan⟦/1⟧ sailed at ten.⟦2/⟧"
    edits = find_edits(MT, new)
    assert apply_edits(MT, edits) == new
    assert all(edit.before.count("⟦") == edit.before.count("⟧") for edit in edits)
