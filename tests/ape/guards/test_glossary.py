"""Glossary terms that a draft does not use."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf


@pytest.mark.parametrize(
    ("mt", "draft", "severity"),
    [
        ("Rhode laughed.", "Roy laughed.", "reject"),
        ("Lode laughed.", "Roy laughed.", "warn"),
        ("Lode laughed.", "Rhode laughed.", ""),
        ("Rhode laughed.", "Rhode's laugh rang out.", ""),
        ("He laughed.", "He chuckled.", "warn"),
    ],
)
def test_a_glossary_term_of_the_source_must_be_used(
    severity_of: SeverityOf, mt: str, draft: str, severity: str
) -> None:
    assert (
        severity_of("glossary", mt, draft, "罗德笑了。", "zh-en", glossary=(("罗德", "Rhode"), ("北京", "Peking")))
        == severity
    )


@pytest.mark.parametrize(("text", "severity"), [("He left Vestphalia.", "warn"), ("He left Westphalia.", "")])
def test_an_unchanged_draft_is_checked_and_another_spelling_is_no_hit(
    severity_of: SeverityOf, text: str, severity: str
) -> None:
    glossary = (("Westphalie", "Westphalia"),)
    assert severity_of("glossary", text, text, "Il quitta la Westphalie.", "fr-en", glossary=glossary) == severity
