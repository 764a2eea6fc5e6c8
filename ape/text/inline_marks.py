"""Marks that represent inline mark-up in the text for a model: `⟦1⟧` opens, `⟦/1⟧` closes, `⟦2/⟧` is standalone.

They are numbered from 1 in the order in which they open. A text can be written back to its file if and only if it has
the same marks, each once, and its pairs are properly nested.
"""

from __future__ import annotations

import re
from collections import Counter

MARK = re.compile(r"⟦(?P<close>/?)(?P<number>\d{1,4})(?P<alone>/?)⟧")


def opening_mark(number: int) -> str:
    """The mark at the start of an element."""
    return f"⟦{number}⟧"


def closing_mark(number: int) -> str:
    """The mark at the end of an element."""
    return f"⟦/{number}⟧"


def standalone_mark(number: int) -> str:
    """The mark of an element without text to edit: an image, a line break, a footnote reference."""
    return f"⟦{number}/⟧"


def find_marks(text: str) -> list[str]:
    """The marks of a text, in order."""
    return [match.group() for match in MARK.finditer(text)]


def strip_marks(text: str) -> str:
    """The text without marks."""
    return MARK.sub("", text) if "⟦" in text else text


def describe_misplaced_marks(text: str, model: str) -> str:
    """Say in a sentence why `text` can't replace `model`; "" if it can."""
    expected, found = find_marks(model), find_marks(text)
    expected_counts, counts = Counter(expected), Counter(found)
    for mark in expected:
        if mark not in counts:
            return f"The mark {mark} is missing."
    for mark in found:
        if counts[mark] > expected_counts[mark]:
            return f"The mark {mark} occurs too often."
    return "" if _nesting_error(expected) else _nesting_error(found)


def _nesting_error(found: list[str]) -> str:
    open_marks: list[str] = []
    for mark in found:
        match = MARK.fullmatch(mark)
        assert match
        if match["alone"]:
            continue
        if not match["close"]:
            open_marks.append(match["number"])
        elif not open_marks or open_marks.pop() != match["number"]:
            return f"The mark {mark} closes an element that is not open."
    return ""
