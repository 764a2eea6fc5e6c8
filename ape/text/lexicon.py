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
_CONTRACTED = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "shan't": ("shall", "not"),
    "won't": ("will", "not"),
}


@dataclass(frozen=True, slots=True)
class LexiconWord:
    """A token, described; its `key` is the token in lower case.

    `is_word` tells a word from a mark, `parts` are the words in it: "he's" has two, a mark none. `role` is what
    it shares with the words it could be exchanged for: "pronoun", or the base of a verb. A `is_function_word` word is
    one that two texts may share by chance; a `character` is one of a script without spaces, and half of a
    word as often as not; a `number` may be one.
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
    """The tables of one language, all in lower case."""

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
        """All words of the tables that tell little by themselves: any but the numbers."""
        return self.function_words.union(
            self.articles, self.auxiliaries, self.possible["pronoun"], self.possible["connective"]
        )

    @cached_property
    def helpers(self) -> frozenset[str]:
        """What helps a verb."""
        return self.auxiliaries | {"to", "'s"}

    @cached_property
    def expression(self) -> re.Pattern[str] | None:
        """What finds words of several characters in a script without spaces; None where words have spaces."""
        if self.language not in _UNSPACED:
            return None
        long = sorted((word for word in self.grammatical if len(word) > 1), key=len, reverse=True)
        return re.compile("(" + "|".join(long) + ")")

    def apart(self, key: str) -> tuple[str, ...]:
        """The words that an apostrophe joins: he's -> he 's, don't -> do not, qu'il -> qu' il."""
        if self.language == "en":
            return _english_parts(key)
        if self.language in _ELIDING:
            word, mark, rest = key.partition("'")
            return (word + mark, rest) if rest else (key,)
        return (key,)


# A book has some ten thousand different words; they are described once.
@lru_cache(maxsize=20_000)
def describe_word(lexicon: Lexicon, key: str) -> LexiconWord:
    """What the lexicon tells of a token, given in lower case."""
    says = is_word(key)
    # Most keys are such words, and there is no more to them than their letters.
    plain = key.isascii() and key.isalnum()
    return LexiconWord(
        key=key,
        is_word=says,
        parts=lexicon.apart(key) if says else (),
        letters=key if plain else _letters(key) if says else "",
        role=_role(lexicon, key) if says else _role_of_mark(key),
        is_function_word=_is_function_word(lexicon, key) if says else key not in STOPS,
        character=says and not plain and _is_character(key) and key not in lexicon.grammatical,
        number=key in lexicon.possible["number"] or (not key.isalpha() and any(map(str.isdigit, key))),
        auxiliary=key in lexicon.auxiliaries or (key == "to" and lexicon.language == "en"),
    )


@lru_cache(maxsize=64)
def load_lexicon(language: str) -> Lexicon:
    """The tables of a language, told by its code; a region ("pt-BR") makes no difference."""
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
    """Whether the token is cut off even from its like, as in a script without spaces."""
    return len(tokens(key + key)) == 2


def _english_parts(key: str) -> tuple[str, ...]:
    if key in _CONTRACTED:
        return _CONTRACTED[key]
    if key.endswith("n't"):
        return (key[:-3], "not")
    word, mark, rest = key.rpartition("'")
    return (word, mark + rest) if word else (key,)


def _letters(key: str) -> str:
    """Without marks, and however Unicode composes it; signs above and below letters are letters too."""
    return "".join([sign for sign in normalize("NFKC", key) if category(sign)[0] in "LMN"])


def _is_function_word(lexicon: Lexicon, key: str) -> bool:
    if lexicon.function_words:
        return lexicon.grammatical.issuperset(lexicon.apart(key))
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
