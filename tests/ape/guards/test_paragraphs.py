"""Paragraphs that a draft loses or invents."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf


@pytest.mark.parametrize(
    ("mt", "draft", "severity"),
    [
        ("One paragraph.", "One\n\nparagraph\n\nin three.", "reject"),
        ("One.\n\nTwo.", "One. Two.", "warn"),
        ("One. Two.", "One.\nTwo.", "warn"),
        ("One.\n\nTwo.", "First.\n\nSecond.", ""),
        ("One. Two.", "One, two.", ""),
    ],
)
def test_lost_and_invented_paragraphs_are_found(severity_of: SeverityOf, mt: str, draft: str, severity: str) -> None:
    assert severity_of("paragraphs", mt, draft, source=mt) == severity


def test_paragraphs_restored_as_in_the_source_pass(severity_of: SeverityOf) -> None:
    assert severity_of("paragraphs", "One. Two. Three.", "One.\nTwo.\nThree.", "Un.\nDeux.\nTrois.") == ""
