"""Split a text into sentences, by rules for many scripts.

A sentence ends with a terminal mark and the closing quotation marks and brackets after it. A full stop after an
initial, a known abbreviation or a small number, or before a lower-case letter, does not end a sentence.
"""

from __future__ import annotations

import re

TERMINALS = ".!?…。！？｡।॥؟۔։።"
CLOSERS = "\"'”’»›)]}」』）】》〉"

_CLOSER = re.escape(CLOSERS)
_MARK = ".!?…؟։"
_WIDE = "。！？｡"
_SPACE = r"[^\S\x1c-\x1f]"
# The pattern begins with one character class, so that other characters are skipped quickly.
_END = re.compile(
    rf"""
    [{_MARK}{_WIDE}।॥۔።\n]
    (?: (?<=[{_MARK}])(?<![{_MARK}]{{2}})[{_MARK}]*+(?:{_SPACE}?[{_CLOSER}])*+{_SPACE}++   # not 3.14 or a.org
      | (?<=\n){_SPACE}*+
      | (?<=[{_WIDE}])[{_WIDE}]*+…*+[{_CLOSER}]*+{_SPACE}*+      # no space needed after these
      | (?<=[।॥۔።])[{_CLOSER}]*+{_SPACE}*+
    )
    """,
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"[^\W_]++$")
_OPENERS = " \t\n\"'“‘„«‹([{「『（—–-"
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr st prof rev hon gen col capt lt sgt sen rep gov pres jr sr vs cf eg ie etc no vol pp fig ed "
    "mme mlle mgr hr fr frau nr bzw ca usw sig sra dna dl str art г гг ул им т д н см рис стр ст".split()
)
_LONGEST_ABBREVIATION = max(map(len, _ABBREVIATIONS))
# Abbreviations are shorter than this.
_LOOK_BACK = 16


def split_sentences(text: str) -> list[str]:
    """The sentences in order, each with the white space after it; joined they give the text."""
    sentences = []
    start = 0
    for match in _END.finditer(text):
        mark, end = match.span()
        if text[mark] in _MARK and not _ends_here(text, mark, end):
            continue
        sentences.append(text[start:end])
        start = end
    if start < len(text):
        sentences.append(text[start:])
    return sentences


def _ends_here(text: str, mark: int, end: int) -> bool:
    """Whether the mark at position `mark`, with the space up to `end`, ends a sentence."""
    after = text[end : end + 8].lstrip(_OPENERS)[:1]
    if after.islower():
        return False
    if text[mark] != "." or text[mark + 1] in _MARK:
        return True
    # Most sentences end with a longer word.
    if mark > _LONGEST_ABBREVIATION and text[mark - _LONGEST_ABBREVIATION - 1 : mark].isalnum():
        return True
    before = _LAST_WORD.search(text[max(0, mark - _LOOK_BACK) : mark])
    if before is None:
        return True
    word = before.group()
    initial = len(word) == 1 and word.isupper() and word != "I"
    number = word.isdigit() and len(word) <= 2
    return not (initial or number or word.lower() in _ABBREVIATIONS)
