"""The cast of a passage in front of the model."""

from __future__ import annotations

from ape.passage.cast_lines import cast_within_budget, known_pronouns
from ape.passage.segment import CastMember
from ape.text.token_estimate import estimate_tokens

RHODE = CastMember("罗德", "Rhode", "male")
NING = CastMember("宁宁", "Ning Ning", "female", in_passage=False)
HILL = CastMember("山", "the Hill")


def test_those_of_the_passage_come_first() -> None:
    assert cast_within_budget([NING, RHODE]) == [RHODE, NING]


def test_a_long_cast_is_cut() -> None:
    many = [CastMember(f"罗德{number}", f"Rhode the {number}th") for number in range(1_000)]
    shown = cast_within_budget(many)
    lines = "\n".join(f"{one.source} = {one.wording}" for one in shown)
    assert 5 < len(shown) < 50
    assert estimate_tokens(lines).high < 400


def test_only_known_genders_are_told() -> None:
    assert known_pronouns([RHODE, NING, HILL]) == (("Rhode", "he"), ("Ning Ning", "she"))
    assert known_pronouns([HILL]) == ()
