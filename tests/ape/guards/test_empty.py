"""Drafts without words."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf


@pytest.mark.parametrize("draft", ["", "   ", "…", "***", "“”"])
def test_a_draft_without_words_is_empty(severity_of: SeverityOf, draft: str) -> None:
    assert severity_of("empty", "He left.", draft) == "reject"


@pytest.mark.parametrize(
    ("mt", "draft"), [("***", "* * *"), ("He left.", "Gone."), ("走了。", "他走了。"), ("—", "–"), ("", "")]
)
def test_a_draft_with_words_or_for_an_mt_without_words_is_not_empty(
    severity_of: SeverityOf, mt: str, draft: str
) -> None:
    assert severity_of("empty", mt, draft) == ""
