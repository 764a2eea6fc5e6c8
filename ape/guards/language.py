"""A draft in the wrong language or script."""

from __future__ import annotations

import re
from functools import lru_cache

import regex

from ape.guards.messages import quote_list, reject, warn
from ape.guards.text_features import TextFeatures, passage_features
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.languages import classify_language, language_name, language_scripts

# Up to here all letters are Latin; what else a book in them has, its quotation marks and dashes, are no letters.
_BEYOND_LATIN = re.compile("[\u0250-\u1fff\u2070-\U0010ffff]")
# Letters any script may hold: the micro sign, ordinal indicators, one Greek letter in a formula.
_MOST_STRAY_LETTERS = 1
# Where so many of the draft's words are the MT's, it is in the MT's language, and no statistics are needed.
_SHARED_WORDS = 0.4
# py3langid on fewer words guesses.
_FEWEST_WORDS = 6
_SURE = 0.95


def language(segment: Segment, draft: Draft) -> list[Finding]:
    """Words in a script that neither the target language nor the MT has; else the statistics of its letters."""
    _, mt, new = passage_features(segment, draft)
    return _foreign_script(segment, new) or _foreign_language(segment, mt, new)


def _foreign_script(segment: Segment, new: TextFeatures) -> list[Finding]:
    if new.text.isascii() or not _BEYOND_LATIN.search(new.text):
        return []
    pattern = _foreign(segment.target_language)
    found = [
        word
        for word in pattern.findall(new.text)
        if word not in segment.mt and not _is_quotation(word, segment)
    ]
    letters = sum(map(len, found))
    if letters <= _MOST_STRAY_LETTERS:
        return []
    language = language_name(segment.target_language)
    return [
        reject("language", f"The draft has words that are not written as {language} is: {quote_list(found)}.")
    ]


def _is_quotation(word: str, segment: Segment) -> bool:
    """Whether the word is foreign to the source too: Greek in a French book stays Greek."""
    return word in segment.source and word in _foreign(segment.source_language).findall(segment.source)


@lru_cache(maxsize=64)
def _foreign(target_language: str) -> regex.Pattern[str]:
    """Runs of letters foreign to a language. Latin is at home everywhere: names, brands and titles stay in it."""
    own = "".join(rf"\p{{{script}}}" for script in (*language_scripts(target_language), "Latin"))
    return regex.compile(rf"[\p{{L}}--[{own}\p{{Common}}\p{{Inherited}}]]+", regex.V1)


def _foreign_language(segment: Segment, mt: TextFeatures, new: TextFeatures) -> list[Finding]:
    words = new.words
    if len(words) < _FEWEST_WORDS:
        return []
    shared = sum(map(mt.vocabulary.__contains__, words))
    if shared >= _SHARED_WORDS * len(words):
        return []
    found, probability = classify_language(new.text)
    if found == segment.target_language or probability < _SURE:
        return []
    expected = language_name(segment.target_language)
    if classify_language(segment.mt)[0] == found:
        return []
    message = f"The draft reads as {language_name(found)}, not as {expected}."
    if found == segment.source_language or len(words) >= 2 * _FEWEST_WORDS:
        return [reject("language", message)]
    return [warn("language", message)]
