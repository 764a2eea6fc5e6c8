"""Describe a single word of a language: its class, its group, and whether it is a function word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal
from unicodedata import category, normalize

from ape.text import word_classes
from ape.text.english_verbs import verb_base
from ape.text.tokens import is_word, tokens

WordGroup = Literal["pronoun", "connective", "number"]
WORD_GROUPS: tuple[WordGroup, ...] = ("pronoun", "connective", "number")

STOPS = frozenset(".!?…。！？‽؟۔।")
PAUSES = frozenset(",;:—–、，；：،؛")
QUOTES = frozenset("\"'“”‘’«»„‹›「」『』")

_ELIDING = ("fr", "it")
_UNSPACED = ("zh", "ja")
_CONTRACTED = {"can't": ("can", "not"), "cannot": ("can", "not"), "shan't": ("shall", "not"), "won't": ("will", "not")}


@dataclass(frozen=True, slots=True)
class LexiconWord:
    """The properties of a token; `key` is the token in lower case.

    `parts` are the words it consists of: two for "he's", none for a punctuation mark. Words that could replace each
    other share a `role`: "pronoun", or the base of a verb. Two texts may share a function word by chance. `character`
    marks a single character of a script without spaces, which may be only part of a word. `number` is true if the
    token may be a number.
    """

    key: str
    is_word: bool
    parts: tuple[str, ...]
    letters: str
    role: str
    is_function_word: bool
    character: bool
    number: bool
    auxiliary: bool


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The word tables of one language, in lower case."""

    language: str
    sure: dict[WordGroup, frozenset[str]]
    doubtful: dict[WordGroup, frozenset[str]]
    articles: frozenset[str]
    auxiliaries: frozenset[str]
    function_words: frozenset[str]
    ordinary: frozenset[str]

    @cached_property
    def possible(self) -> dict[WordGroup, frozenset[str]]:
        """The sure and the doubtful words of each group."""
        return {group: self.sure[group] | self.doubtful[group] for group in WORD_GROUPS}

    @cached_property
    def grammatical(self) -> frozenset[str]:
        """All words of the tables except numbers."""
        return self.function_words.union(
            self.articles, self.auxiliaries, self.possible["pronoun"], self.possible["connective"]
        )

    @cached_property
    def helpers(self) -> frozenset[str]:
        """Words that accompany a verb."""
        return self.auxiliaries | {"to", "'s"}

    @cached_property
    def expression(self) -> re.Pattern[str] | None:
        """A pattern for words of several characters in a script without spaces; None for other scripts."""
        if self.language not in _UNSPACED:
            return None
        long = sorted((word for word in self.grammatical if len(word) > 1), key=len, reverse=True)
        return re.compile("(" + "|".join(long) + ")")

    def split_joined(self, key: str) -> tuple[str, ...]:
        """Split words joined by an apostrophe: he's -> he 's, don't -> do not, qu'il -> qu' il."""
        if self.language == "en":
            return _english_parts(key)
        if self.language in _ELIDING:
            word, mark, rest = key.partition("'")
            return (word + mark, rest) if rest else (key,)
        return (key,)


# A book has about ten thousand distinct words.
@lru_cache(maxsize=20_000)
def describe_word(lexicon: Lexicon, key: str) -> LexiconWord:
    """The properties of a lower-case token."""
    has_letters = is_word(key)
    # Most keys are plain words.
    plain = key.isascii() and key.isalnum()
    return LexiconWord(
        key=key,
        is_word=has_letters,
        parts=lexicon.split_joined(key) if has_letters else (),
        letters=key if plain else _letters(key) if has_letters else "",
        role=_role(lexicon, key) if has_letters else _role_of_mark(key),
        is_function_word=_is_function_word(lexicon, key) if has_letters else key not in STOPS,
        character=has_letters and not plain and _is_character(key) and key not in lexicon.grammatical,
        number=key in lexicon.possible["number"] or (not key.isalpha() and any(map(str.isdigit, key))),
        auxiliary=key in lexicon.auxiliaries or (key == "to" and lexicon.language == "en"),
    )


@lru_cache(maxsize=64)
def load_lexicon(language: str) -> Lexicon:
    """The tables of a language by its code; a region ("pt-BR") is ignored."""
    code = language.replace("_", "-").split("-")[0].lower()

    def table(tables: dict[str, str]) -> frozenset[str]:
        return frozenset(word.replace("_", " ") for word in tables.get(code, "").split())

    return Lexicon(
        language=code,
        sure={
            "pronoun": table(word_classes.SURE_PRONOUNS),
            "connective": table(word_classes.SURE_CONNECTIVES),
            "number": table(word_classes.SURE_NUMBERS),
        },
        doubtful={
            "pronoun": table(word_classes.DOUBTFUL_PRONOUNS),
            "connective": table(word_classes.DOUBTFUL_CONNECTIVES),
            "number": table(word_classes.DOUBTFUL_NUMBERS),
        },
        articles=table(word_classes.ARTICLES),
        auxiliaries=table(word_classes.AUXILIARIES),
        function_words=table(word_classes.FUNCTION_WORDS),
        ordinary=table(word_classes.ORDINARY),
    )


def _is_character(key: str) -> bool:
    """Whether the token is a single character of a script without spaces."""
    return len(tokens(key + key)) == 2


def _english_parts(key: str) -> tuple[str, ...]:
    if key in _CONTRACTED:
        return _CONTRACTED[key]
    if key.endswith("n't"):
        return (key[:-3], "not")
    word, mark, rest = key.rpartition("'")
    return (word, mark + rest) if word else (key,)


def _letters(key: str) -> str:
    """The letters, digits and combining marks of a token, in normalised form."""
    return "".join([sign for sign in normalize("NFKC", key) if category(sign)[0] in "LMN"])


def _is_function_word(lexicon: Lexicon, key: str) -> bool:
    if lexicon.function_words:
        return lexicon.grammatical.issuperset(lexicon.split_joined(key))
    return len(key) <= 2


def _role(lexicon: Lexicon, key: str) -> str:
    for group in WORD_GROUPS:
        if key in lexicon.sure[group]:
            return group
    if key[0].isdecimal():
        return "number"
    if key in lexicon.articles:
        return "article"
    if lexicon.language == "en":
        return verb_base(key)
    return "auxiliary" if key in lexicon.auxiliaries else key[:4]


def _role_of_mark(key: str) -> str:
    for role, marks in (("stop", STOPS), ("pause", PAUSES), ("quote", QUOTES)):
        if key in marks:
            return role
    return key
