"""Unreadable and invisible characters."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf

MT = "He opened the window and looked out."


@pytest.mark.parametrize("sign", ["\u00ad", "\u200b", "\u200d", "\u202a", "\u202e", "\u2066", "\u2069", "\ufeff"])
def test_invisible_characters_are_rejected_unless_the_passage_has_them(severity_of: SeverityOf, sign: str) -> None:
    draft = MT.replace("window", f"win{sign}dow")
    assert severity_of("garbled", MT, draft) == "reject"
    assert severity_of("garbled", f"{sign}{MT}", draft) == ""
    assert severity_of("garbled", MT, draft, f"Il ouvrit{sign}.") == ""


@pytest.mark.parametrize(
    "draft",
    [
        "او می‌خواهد برود.",  # Persian: the joiner's opposite
        "वह क्‍या है?",  # Hindi: half a letter
        "A family: \U0001f468\u200d\U0001f469\u200d\U0001f467.",
        "A café, a naïve “quotation” — and so on…",
    ],
)
def test_joiners_that_scripts_and_emoji_need_pass(severity_of: SeverityOf, draft: str) -> None:
    assert severity_of("garbled", MT, draft) == ""
