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

# Characters that may be letters of other scripts: not the Latin blocks, nor typographic punctuation.
_BEYOND_LATIN = re.compile("[\u0250-\u1fff\u2070-\U0010ffff]")
# A text of any script may contain one such letter: a micro sign, or a Greek letter in a formula.
_MAX_STRAY_LETTERS = 1
# A draft that shares this much of its words with the MT is in the same language; no classifier is needed.
_SHARED_WORDS = 0.4
# On fewer words py3langid is unreliable.
_MIN_WORDS = 6
_SURE = 0.95


def language(segment: Segment, draft: Draft) -> list[Finding]:
    """Find words in a script foreign to the target language and the MT, or a draft classified as another language."""
    _, mt, new = passage_features(segment, draft)
    return _foreign_script(segment, new) or _foreign_language(segment, mt, new)


def _foreign_script(segment: Segment, new: TextFeatures) -> list[Finding]:
    if new.text.isascii() or not _BEYOND_LATIN.search(new.text):
        return []
    pattern = _foreign_letters(segment.target_language)
    found = [word for word in pattern.findall(new.text) if word not in segment.mt and not _is_quotation(word, segment)]
    letters = sum(map(len, found))
    if letters <= _MAX_STRAY_LETTERS:
        return []
    language = language_name(segment.target_language)
    return [
        reject("language", f"The draft contains words in a script that {language} does not use: {quote_list(found)}.")
    ]


def _is_quotation(word: str, segment: Segment) -> bool:
    """Whether the word is foreign to the source too: a Greek quotation in a French book stays Greek."""
    return word in segment.source and word in _foreign_letters(segment.source_language).findall(segment.source)


@lru_cache(maxsize=64)
def _foreign_letters(target_language: str) -> regex.Pattern[str]:
    """Runs of letters foreign to a language. Latin is never foreign: names, brands and titles stay in it."""
    native = "".join(rf"\p{{{script}}}" for script in (*language_scripts(target_language), "Latin"))
    return regex.compile(rf"[\p{{L}}--[{native}\p{{Common}}\p{{Inherited}}]]+", regex.V1)


def _foreign_language(segment: Segment, mt: TextFeatures, new: TextFeatures) -> list[Finding]:
    words = new.words
    if len(words) < _MIN_WORDS:
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
    message = f"The draft seems to be in {language_name(found)}, not in {expected}."
    if found == segment.source_language or len(words) >= 2 * _MIN_WORDS:
        return [reject("language", message)]
    return [warn("language", message)]
