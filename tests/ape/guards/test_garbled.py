"""Characters that can't be read, and characters that can't be seen."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import Ask

MT = "He opened the window and looked out."


@pytest.mark.parametrize(
    "sign", ["\u00ad", "\u200b", "\u200d", "\u202a", "\u202e", "\u2066", "\u2069", "\ufeff"]
)
def test_what_can_not_be_seen_is_refused_unless_the_passage_has_it(ask: Ask, sign: str) -> None:
    draft = MT.replace("window", f"win{sign}dow")
    assert ask("garbled", MT, draft) == "reject"
    assert ask("garbled", f"{sign}{MT}", draft) == ""
    assert ask("garbled", MT, draft, f"Il ouvrit{sign}.") == ""


@pytest.mark.parametrize(
    "draft",
    [
        "او می‌خواهد برود.",  # Persian: the joiner's opposite
        "वह क्‍या है?",  # Hindi: half a letter
        "A family: \U0001f468\u200d\U0001f469\u200d\U0001f467.",
        "A café, a naïve “quotation” — and so on…",
    ],
)
def test_joiners_where_scripts_and_emoji_need_them_pass(ask: Ask, draft: str) -> None:
    assert ask("garbled", MT, draft) == ""
