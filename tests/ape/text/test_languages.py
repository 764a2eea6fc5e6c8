"""Language detection, names and tags."""

from __future__ import annotations

import pytest

from ape.text.languages import (
    detect_language,
    guess_language,
    language_code,
    language_name,
    language_tag,
    script_counts,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Yes.", "en"),
        ("“Damn it!”", "en"),
        ("Chapter One", "en"),
        ("…", "en"),
        ("He went down to the harbour, as he did every morning.", "en"),
        ("Er ging jeden Morgen zum Hafen hinunter und sah den Schiffen nach.", "de"),
        ("Он ушёл.", "ru"),
        ("他走了。", "zh"),
        ("行きました。", "ja"),
        ("그는 갔다.", "ko"),
    ],
)
def test_a_short_text_is_not_taken_for_a_rare_language(text: str, language: str) -> None:
    assert detect_language(text, default="en") == language


@pytest.mark.parametrize(
    ("text", "language"),
    [("Il pleut des cordes.", "fr"), ("Er ging nach Hause.", "de"), ("他走了。", "zh"), ("* * *", "und")],
)
def test_the_language_of_a_short_source_is_guessed(text: str, language: str) -> None:
    assert guess_language(text, other_than="en") == language


@pytest.mark.parametrize("given", ["fr", "FR", "fr-CA", "French", "french"])
def test_a_language_is_given_by_code_or_name(given: str) -> None:
    assert language_code(given) == "fr"


@pytest.mark.parametrize(
    ("given", "tag"), [("French", "fr"), ("FR", "fr"), (" fr-CA ", "fr-CA"), ("fr_CA", "fr-CA"), ("zh-Hant", "zh-Hant")]
)
def test_a_tag_keeps_its_region(given: str, tag: str) -> None:
    assert (language_tag(given), language_code(given)) == (tag, tag[:2])


def test_every_language_has_a_name_for_the_model() -> None:
    assert [language_name(code) for code in ("fr", "xx", "und")] == ["French", "xx", "a foreign language"]


def test_letters_are_counted_by_script() -> None:
    assert script_counts("Ёлка и tree 木") == {"Cyrillic": 5, "Latin": 4, "Han": 1}
