"""A draft that cuts a loop of the MT to one round is neither too short nor truncated."""

from __future__ import annotations

import pytest

from ape.guards import check_draft
from ape.passage.segment import Draft, Segment

SOURCE = "මේ කාලයේදී ඉටු කරන අනිවාර්ය නැමදුම ඉෂා යාඥාවයි ."


@pytest.mark.parametrize(
    ("mt", "draft"),
    [
        ("The prayer of this time is " + "< unk > " * 40, "The prayer of this time is < unk >"),
        ("Lord , my lady , " * 12 + "my lady", "Lord , my lady , my lady"),
        ("He bows to the king" + " , to the king" * 9 + " .", "He bows to the king ."),
    ],
)
def test_a_draft_may_cut_the_rounds_of_a_loop(mt: str, draft: str) -> None:
    assert [one for one in check_draft(Segment(SOURCE, mt, "si", "en"), Draft(draft)) if one.severity == "reject"] == []


def test_a_lost_end_is_found_despite_a_loop() -> None:
    mt = "He bows to the king , to the king , to the king , to the king and then he goes away forever ."
    found = check_draft(Segment(SOURCE, mt, "si", "en"), Draft("He bows to the king and then"))
    assert "truncated" in {one.guard for one in found if one.severity == "reject"}
