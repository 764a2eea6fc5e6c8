"""The word tables are consistent."""

from __future__ import annotations

import pytest

from ape.text.lexicon import WORD_GROUPS, describe_word, load_lexicon
from ape.text.tokens import tokens

LANGUAGES = ("en", "fr", "de", "es", "it", "pt", "ru", "zh", "ja")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_table_is_in_lower_case(language: str) -> None:
    tables = load_lexicon(language)
    assert all(word == word.casefold().replace("’", "'") or "ß" in word for word in tables.grammatical)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_expression_of_several_words_contains_a_word_of_a_table(language: str) -> None:
    tables = load_lexicon(language)
    expressions = [word for group in WORD_GROUPS for word in tables.possible[group] if " " in word]
    assert [words for words in expressions if tables.grammatical.isdisjoint(words.split())] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_is_both_sure_and_doubtful(language: str) -> None:
    tables = load_lexicon(language)
    assert {group: tables.sure[group] & tables.doubtful[group] for group in WORD_GROUPS} == dict.fromkeys(
        WORD_GROUPS, frozenset()
    )


def test_a_language_without_tables_has_empty_ones() -> None:
    tables = load_lexicon("sw")
    assert not tables.grammatical
    assert not describe_word(tables, "kitabu").is_function_word


def test_words_joined_by_an_apostrophe_are_split() -> None:
    assert describe_word(load_lexicon("en"), "he's").parts == ("he", "'s")
    assert describe_word(load_lexicon("en"), "won't").parts == ("will", "not")
    assert describe_word(load_lexicon("en"), "'tis").parts == ("'tis",)
    assert describe_word(load_lexicon("fr"), "qu'elle").parts == ("qu'", "elle")
    assert describe_word(load_lexicon("de"), "geht's").parts == ("geht's",)


def test_a_character_may_be_part_of_a_word_unless_it_is_in_a_table() -> None:
    assert describe_word(load_lexicon("zh"), "京").character
    assert not describe_word(load_lexicon("zh"), "他").character
    assert not describe_word(load_lexicon("ja"), "ジョー").character
    assert not describe_word(load_lexicon("en"), "a").character


def test_words_of_several_characters_are_found_whole() -> None:
    expression = load_lexicon("zh").expression
    assert expression is not None
    assert len(tokens("她们")) == 2
    assert expression.split("可是她们") == ["", "可是", "", "她们", ""]
