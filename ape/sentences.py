"""Cut a text into sentences, in many scripts, so that joining them gives it back.

Rules, no statistics: a mark that ends sentences, with the quotation marks and brackets that close after it. A full
stop after an initial, a known abbreviation or a small number, or before a small letter, ends nothing.
"""

from __future__ import annotations

import regex

TERMINALS = ".!?…。！？｡।॥؟۔։።"
CLOSERS = "\"'”’»›)]}」』）】》〉"

_CLOSER = regex.escape(CLOSERS)
_MARK = ".!?…؟։"
_END = regex.compile(
    rf"""
      (?P<full>[。！？｡]+(?:…+)?|[।॥۔።])[{_CLOSER}]*+\s*+      # these need no space after them
    | (?<![{_MARK}])(?P<mark>[{_MARK}]++)(?:\s?[{_CLOSER}])*+(?=\s)\s++   # these do: 3.14 and example.org go on
    | \n\s*+
    """,
    regex.VERBOSE,
)
_LAST_WORD = regex.compile(r"[\p{L}\p{N}]++$")
_OPENERS = " \t\n\"'“‘„«‹([{「『（—–-"
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr st prof rev hon gen col capt lt sgt sen rep gov pres jr sr vs cf eg ie etc no vol pp fig ed "
    "mme mlle mgr hr fr frau nr bzw ca usw sig sra dna dl str art г гг ул им т д н см рис стр ст".split()
)
# An abbreviation is a few letters: there is no need to look further back for it.
_LOOK_BACK = 16


def split(text: str) -> list[str]:
    """The sentences in order, each with the white space that follows it: `"".join(split(text)) == text`."""
    sentences = []
    start = 0
    for match in _END.finditer(text):
        if match["mark"] and not _ends_here(text, match):
            continue
        sentences.append(text[start : match.end()])
        start = match.end()
    if start < len(text):
        sentences.append(text[start:])
    return sentences


def _ends_here(text: str, match: regex.Match[str]) -> bool:
    after = text[match.end() : match.end() + 8].lstrip(_OPENERS)[:1]
    if after.islower():
        return False
    if match["mark"] != ".":
        return True
    before = _LAST_WORD.search(text[max(0, match.start() - _LOOK_BACK) : match.start()])
    if before is None:
        return True
    word = before.group()
    initial = len(word) == 1 and word.isupper() and word != "I"
    number = word.isdigit() and len(word) <= 2
    return not (initial or number or word.lower() in _ABBREVIATIONS)
