"""Paragraphs that a draft loses or invents."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import Ask


@pytest.mark.parametrize(
    ("mt", "draft", "weight"),
    [
        ("One paragraph.", "One\n\nparagraph\n\nin three.", "reject"),
        ("One.\n\nTwo.", "One. Two.", "warn"),
        ("One. Two.", "One.\nTwo.", "warn"),
        ("One.\n\nTwo.", "First.\n\nSecond.", ""),
        ("One. Two.", "One, two.", ""),
    ],
)
def test_paragraphs_lost_or_invented_are_told(ask: Ask, mt: str, draft: str, weight: str) -> None:
    assert ask("paragraphs", mt, draft, source=mt) == weight


def test_paragraphs_put_back_as_in_the_source_are_right(ask: Ask) -> None:
    assert ask("paragraphs", "One. Two. Three.", "One.\nTwo.\nThree.", "Un.\nDeux.\nTrois.") == ""
