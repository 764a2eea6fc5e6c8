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
