"""He and she against a source in Chinese, which writes them apart."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import Ask


@pytest.mark.parametrize(
    ("source", "mt", "draft", "weight"),
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
def test_an_exchange_against_the_source_is_told(
    ask: Ask, source: str, mt: str, draft: str, weight: str
) -> None:
    assert ask("pronouns", mt, draft, source, "zh-en") == weight


def test_other_languages_are_left_alone(ask: Ask) -> None:
    assert ask("pronouns", "She closed up the window.", "He closed the window.", "Elle ferma.") == ""
