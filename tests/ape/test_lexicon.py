"""The tables of words hang together."""

from __future__ import annotations

import pytest

from ape.lexicon import GROUPS, describe, lexicon
from ape.words import tokens

LANGUAGES = ("en", "fr", "de", "es", "it", "pt", "ru", "zh", "ja")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_table_is_in_lower_case(language: str) -> None:
    tables = lexicon(language)
    assert all(word == word.casefold().replace("’", "'") or "ß" in word for word in tables.grammatical)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_expression_of_several_words_has_one_that_is_in_a_table_itself(language: str) -> None:
    tables = lexicon(language)
    expressions = [word for group in GROUPS for word in tables.possible[group] if " " in word]
    assert [words for words in expressions if tables.grammatical.isdisjoint(words.split())] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_is_sure_and_doubtful_at_once(language: str) -> None:
    tables = lexicon(language)
    assert {group: tables.sure[group] & tables.doubtful[group] for group in GROUPS} == dict.fromkeys(
        GROUPS, frozenset()
    )


def test_a_language_without_tables_has_empty_ones() -> None:
    tables = lexicon("sw")
    assert not tables.grammatical
    assert not describe(tables, "kitabu").light


def test_words_joined_by_an_apostrophe_are_taken_apart() -> None:
    assert describe(lexicon("en"), "he's").parts == ("he", "'s")
    assert describe(lexicon("en"), "won't").parts == ("will", "not")
    assert describe(lexicon("en"), "'tis").parts == ("'tis",)
    assert describe(lexicon("fr"), "qu'elle").parts == ("qu'", "elle")
    assert describe(lexicon("de"), "geht's").parts == ("geht's",)


def test_a_character_is_half_of_a_word_unless_it_stands_alone_well() -> None:
    assert describe(lexicon("zh"), "京").character
    assert not describe(lexicon("zh"), "他").character
    assert not describe(lexicon("ja"), "ジョー").character
    assert not describe(lexicon("en"), "a").character


def test_words_of_several_characters_are_found_whole() -> None:
    expression = lexicon("zh").expression
    assert expression is not None
    assert len(tokens("她们")) == 2
    assert expression.split("可是她们") == ["", "可是", "", "她们", ""]
