"""Stems for comparing words: lower case without endings, so that "Laws" equals "law"."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ape.text.languages import language_code

SNOWBALL: Mapping[str, str] = {
    "ar": "arabic", "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish",
}  # fmt: skip
"""The Snowball stemmer of each language; other languages are only lower-cased."""


def stemmer_name(language: str) -> str:
    """The normalisation of a language, for signatures."""
    name = SNOWBALL.get(language_code(language))
    return f"snowball-{name}" if name else "lower"


def stem_word(word: str, language: str) -> str:
    """The stem; never empty for a word."""
    return _stem(word, language_code(language))


@lru_cache(maxsize=1 << 17)
def _stem(word: str, language: str) -> str:
    lower = word.lower()
    name = SNOWBALL.get(language)
    return (str(_stemmer(name).stem(lower)) if name else lower) or lower


@lru_cache(maxsize=32)
def _stemmer(name: str) -> Any:
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer(name)
