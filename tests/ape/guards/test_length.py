"""Drafts that are too short or too long."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf

LONG = (
    "The old house stood at the end of the lane, and nobody had lived in it since the war. "
    "In the evening the windows caught the light, so that it seemed as if somebody were at home."
)


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("fr-en", LONG, LONG, "The old house stood at the end of the lane."),
        ("fr-en", LONG, LONG, LONG + " " + LONG),
        ("zh-en", "他打开窗户，向外看去，什么也没有看见，只有雨。" * 2, LONG, "He looked out."),
        (
            "en-zh",
            LONG,
            "老房子在巷子的尽头，战后就没有人住过。傍晚时分，窗户映着光，好像有人在家。",
            "老房子没有人住。",
        ),
        ("ru-en", "Старый дом стоял в конце переулка, и никто не жил в нём с войны. " * 2, LONG, "An old house."),
    ],
)
def test_a_draft_far_too_short_or_long_is_refused(
    severity_of: SeverityOf, languages: str, source: str, mt: str, draft: str
) -> None:
    assert severity_of("length", mt, draft, source, languages) == "reject"


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("fr-en", "Oui.", "Yes.", "Yes, of course."),
        ("fr-en", LONG, LONG, LONG.replace("and nobody had lived in it", "empty")),
        ("fr-en", LONG, "The old house stood there.", LONG),  # the MT left out most of it
        ("zh-en", "他走了，再也没有回来过。", "He left and never came back.", "He went away, never to return again."),
        (
            "en-ja",
            "He left and never came back.",
            "彼は去り、二度と戻らなかった。",
            "彼は立ち去って、もう二度と戻ってはこなかった。",
        ),
    ],
)
def test_a_draft_of_a_fitting_length_passes(
    severity_of: SeverityOf, languages: str, source: str, mt: str, draft: str
) -> None:
    assert severity_of("length", mt, draft, source, languages) == ""
