"""Numbers that speak against a pair: both sides have some in digits, and none of them is on the other side.

Measured on true pairs that have such numbers (web novels, Candide, encyclopedias in Russian and Chinese): 1 of 386
clashes, for a year that the MT got wrong. Of wrong pairs three in four do.
"""

from __future__ import annotations

import re

from ape.text.inline_marks import strip_marks
from ape.text.numerals import Number, TextNumbers

_DIGIT = re.compile(r"\d")


def numbers_conflict(source: str, mt: str, *, source_language: str = "", target_language: str = "") -> bool:
    """Whether no number of the one text is said by the other, though both have numbers that tell something."""
    if not _DIGIT.search(source) or not _DIGIT.search(mt):
        return False
    ours = TextNumbers(strip_marks(source), source_language)
    theirs = TextNumbers(strip_marks(mt), target_language)
    if not _telling(ours) or not _telling(theirs):
        return False
    if any(_alike(one, other) for one in ours.digits for other in theirs.digits):
        return False
    return not any(map(ours.has, theirs.digits)) and not any(map(theirs.has, ours.digits))


def _telling(numbers: TextNumbers) -> bool:
    """A single digit is often spelled out, or counts something else: it takes more than one of them."""
    found = {number.joined for number in numbers.digits if number.significant}
    return len(found) > 1 or any(len(digits) > 1 for digits in found)


def _alike(one: Number, other: Number) -> bool:
    """Whether they may be the same in other units of counting, like 30万 and 300,000, or 1.5 and 1,500,000."""
    ours, theirs = one.significant, other.significant
    return ours.startswith(theirs) or theirs.startswith(ours)
