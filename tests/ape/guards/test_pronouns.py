"""Gendered pronouns against a Chinese source, which distinguishes them."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf


@pytest.mark.parametrize(
    ("source", "mt", "draft", "severity"),
    [
        ("她关上了窗。", "She closed up the window.", "He closed the window.", "reject"),
        ("她把伞给了孩子。", "She gave her umbrella to the child.", "He gave her umbrella to the child.", "warn"),
        ("他关上了窗。", "He closed up the window.", "She closed the window.", "warn"),
        ("她关上了窗。", "He closed up the window.", "She closed the window.", ""),
        ("她看着他。", "She looked at her.", "She looked at him.", ""),
        ("她们关上了窗。", "She closed up the window.", "He closed the window.", ""),
        ("其他人都走了。", "He left, and the others.", "She left, and the others.", ""),
        ("她关上了窗。", "She closed up the window.", "Wenlin closed the window.", ""),
    ],
)  # fmt: skip
def test_a_pronoun_that_contradicts_the_source_is_found(
    severity_of: SeverityOf, source: str, mt: str, draft: str, severity: str
) -> None:
    assert severity_of("pronouns", mt, draft, source, "zh-en") == severity


def test_other_languages_are_not_checked(severity_of: SeverityOf) -> None:
    assert severity_of("pronouns", "She closed up the window.", "He closed the window.", "Elle ferma.") == ""
