"""Drafts without words."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import Ask


@pytest.mark.parametrize("draft", ["", "   ", "…", "***", "“”"])
def test_a_draft_without_words_is_empty(ask: Ask, draft: str) -> None:
    assert ask("empty", "He left.", draft) == "reject"


@pytest.mark.parametrize(
    ("mt", "draft"), [("***", "* * *"), ("He left.", "Gone."), ("走了。", "他走了。"), ("—", "–"), ("", "")]
)
def test_a_draft_that_says_something_or_has_nothing_to_say_is_not_empty(
    ask: Ask, mt: str, draft: str
) -> None:
    assert ask("empty", mt, draft) == ""
