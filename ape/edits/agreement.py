"""Agreement in English: whether an edit repairs a verb or an article that does not fit the word next to it.

Only what two words show: “they was”, “a hour”, “he have”. A parser would find more; this is one
feature of the edit filter among others.
"""

from __future__ import annotations

import re

from ape.passage.edit import Edit

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_PLURAL = frozenset("they we you these those both many several".split())
_SINGULAR = frozenset("he she it this that".split())
# Not “were”, which follows a singular in “if he were”.
_PLURAL_VERBS = frozenset("are have do don't".split())
_SINGULAR_VERBS = frozenset("is was has does doesn't".split())
# Their first letter and their first sound differ; but “unidentified” and “uninvited” begin with “un”.
_VOWEL_SOUND = re.compile(r"hour|honest|honou?r|heir")
_CONSONANT_SOUND = re.compile(r"uni(?![dmn])|unan|us[aeu]|ut[eio]|ur[aio]|ubi|eu|one\b|once\b")


def repairs_agreement(edit: Edit, mt: str) -> bool:
    """Whether the edit removes a disagreement between neighbours, and adds none."""
    before, after = mt[: edit.mt_span[0]], mt[edit.mt_span[1] :]
    left, right = _WORD.findall(before[-40:])[-1:], _WORD.findall(after[:40])[:1]
    was = _disagreements([*left, *_WORD.findall(edit.before), *right])
    return was > _disagreements([*left, *_WORD.findall(edit.after), *right])


def _disagreements(words: list[str]) -> int:
    lower = [word.lower().replace("’", "'") for word in words]
    return sum(map(_disagree, lower, lower[1:]))


def _disagree(one: str, other: str) -> bool:
    if one in ("a", "an"):
        return (one == "an") != _begins_with_vowel(other)
    if one in _PLURAL:
        return other in _SINGULAR_VERBS
    return one in _SINGULAR and other in _PLURAL_VERBS


def _begins_with_vowel(word: str) -> bool:
    return bool(_VOWEL_SOUND.match(word)) or (word[0] in "aeiou" and not _CONSONANT_SOUND.match(word))
