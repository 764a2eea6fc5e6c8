"""Chapters of a Word document are those that a reader would count."""

from __future__ import annotations

import pytest

from ape.books.docx_chapters import DocxHeading, chapter_titles

CASES = {
    # Each heading: level, title, and a dash if another heading follows before any text.
    "sections are no chapters": ("1 One|2 a|2 b|1 Two|2 c", ["One", "Two"]),
    "the title of the book is no chapter": ("1 My book -|2 One|2 Two|2 Three", ["One", "Two", "Three"]),
    "titles of parts belong to the chapter after them": (
        "1 Part I -|2 One|2 Two|1 Part II -|2 Three",
        ["One", "Two", "Three"],
    ),
    "a prologue between parts is a chapter": (
        "1 Prologue|1 Part I -|2 One|2 Two|1 Part II -|2 Three",
        ["Prologue", "One", "Two", "Three"],
    ),
    "one level alone": ("2 One|2 Two", ["One", "Two"]),
    "no headings": ("", []),
}


@pytest.mark.parametrize("name", CASES)
def test_chapters_are_counted_as_a_reader_would(name: str) -> None:
    text, expected = CASES[name]
    headings = [
        DocxHeading(str(number), int(one[0]), one[2:].removesuffix(" -"), one.endswith(" -"))
        for number, one in enumerate(text.split("|") if text else [])
    ]
    assert list(chapter_titles(headings).values()) == expected
