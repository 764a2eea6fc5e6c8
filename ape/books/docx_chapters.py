"""Chapters of a Word document, from the levels of its headings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocxHeading:
    """A heading of level 1 or 2. `bare` if another heading follows before any text."""

    id: str
    level: int
    title: str
    bare: bool


def chapter_titles(headings: Iterable[DocxHeading]) -> Mapping[str, str]:
    """The titles of chapters by the id of the heading that begins each.

    Chapters have the first level where it occurs more than once and has text of its own; the second level is then for
    sections. A book title or the titles of parts leave the chapters to the second level, and belong to the chapter
    that they precede.
    """
    found = list(headings)
    first = [one for one in found if one.level == 1]
    level = 1 if len(first) > 1 and 2 * sum(one.bare for one in first) < len(first) else 2
    titles: dict[str, str] = {}
    begun = ""
    for one in (one for one in found if one.level <= level):
        begun = begun or one.id
        titles[begun] = one.title
        if level == 1 or not one.bare:
            begun = ""
    return titles
