"""Confirmed names of the book that a draft loses or words wrongly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ape.guards.cast import cast
from ape.passage.segment import CastMember, Draft, Segment

RHODE = CastMember("罗德", "Rhode", "male", ("Mr. Rhode", "Rho"), ("Rhodes", "Roder"), confirmed=True)


def severities(mt: str, draft: str, member: CastMember) -> list[str]:
    segment = Segment("罗德笑了。", mt, "zh", "en", cast=(member,))
    return [finding.severity for finding in cast(segment, Draft(draft))]


@pytest.mark.parametrize(
    ("mt", "draft", "found"),
    [
        ("Rhode laughed.", "Rhodes laughed.", ["reject"]),
        ("Rhode laughed.", "Roy laughed.", ["reject"]),
        ("Rhode laughed.", "Rho laughed.", []),
        ("Rhode laughed.", "Rhode's laugh rang out.", []),
        ("Roder laughed.", "Roder chuckled.", []),
        ("He laughed.", "He chuckled.", []),
        ("He laughed.", "Roder chuckled.", ["reject"]),
    ],
)
def test_a_confirmed_name_is_kept(mt: str, draft: str, found: list[str]) -> None:
    assert severities(mt, draft, RHODE) == found


def test_a_proposed_name_is_not_enforced() -> None:
    assert severities("Rhode laughed.", "Rhodes laughed.", replace(RHODE, confirmed=False)) == []


def test_a_name_of_a_neighbour_is_not_enforced() -> None:
    assert severities("Rhode laughed.", "He laughed.", replace(RHODE, in_passage=False)) == []
