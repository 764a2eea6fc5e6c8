"""Inline mark-up on its way through a model: `⟦1⟧` opens, `⟦/1⟧` closes, `⟦2/⟧` stands alone.

They are numbered from 1 in the order in which they open. A text with marks can be put back into its file if and only if
it has the same marks, each once, and its pairs are nested properly.
"""

from __future__ import annotations

import re

MARK = re.compile(r"⟦(?P<close>/?)(?P<number>\d{1,4})(?P<alone>/?)⟧")


def opening_mark(number: int) -> str:
    """The mark where an element begins."""
    return f"⟦{number}⟧"


def closing_mark(number: int) -> str:
    """The mark where it ends."""
    return f"⟦/{number}⟧"


def standalone_mark(number: int) -> str:
    """The mark of what has no text to edit inside: an image, a line break, a footnote's number."""
    return f"⟦{number}/⟧"


def find_marks(text: str) -> list[str]:
    """The marks of a text, in order."""
    return [match.group() for match in MARK.finditer(text)]


def strip_marks(text: str) -> str:
    """The text as a reader sees it."""
    return MARK.sub("", text) if "⟦" in text else text


def describe_misplaced_marks(text: str, model: str) -> str:
    """What keeps `text` from being put back where `model` stands: a sentence, empty where nothing does."""
    wanted, there = find_marks(model), find_marks(text)
    for mark in wanted:
        if mark not in there:
            return f"The mark {mark} is lost."
    for mark in there:
        if there.count(mark) > wanted.count(mark):
            return f"The mark {mark} is there more often than it should be."
    return "" if _unnested(wanted) else _unnested(there)


def _unnested(there: list[str]) -> str:
    open_marks: list[str] = []
    for mark in there:
        match = MARK.fullmatch(mark)
        assert match
        if match["alone"]:
            continue
        if not match["close"]:
            open_marks.append(match["number"])
        elif not open_marks or open_marks.pop() != match["number"]:
            return f"The mark {mark} closes what is not open."
    return ""
