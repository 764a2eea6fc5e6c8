"""Write the report of a book: source, MT and post-edit side by side, with filters, search and plots.

Rows are rendered to a temporary file while they are counted; the page, which begins with the counts, is written around
them. So memory holds one row and the counts, however long the book.

Rows are plain HTML and the browser lays out only those in view, so the report can be read, searched and printed without
a script. The script adds filters, search and keyboard shortcuts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryFile
from urllib.parse import quote

from markupsafe import Markup, escape

from ape.jobs.job_paragraph import JobParagraph
from ape.reports import book_plots
from ape.reports.base_page import Page
from ape.reports.book_counts import BookCounts, paragraph_anchor, paragraph_status
from ape.reports.text_pieces import split_at_edits, split_at_marks
from ape.text.inline_marks import strip_marks
from ape.text.languages import language_name

# One language for the whole book, or one for each chapter number.
LanguageByChapter = str | Mapping[int, str]


@dataclass(frozen=True, slots=True)
class _Languages:
    source: LanguageByChapter
    target: LanguageByChapter

    def sources(self, chapter: int) -> str:
        return self.source if isinstance(self.source, str) else self.source[chapter]

    def targets(self, chapter: int) -> str:
        return self.target if isinstance(self.target, str) else self.target[chapter]

    def __str__(self) -> str:
        return f"{_names(self.source)} to {_names(self.target)}"


def _names(language: LanguageByChapter) -> str:
    codes = [language] if isinstance(language, str) else dict.fromkeys(language.values())
    return " and ".join(language_name(code) for code in codes)


def write_book_report(
    path: Path,
    rows: Iterable[JobParagraph],
    *,
    title: str,
    subtitle: str = "",
    source_language: LanguageByChapter,
    target_language: LanguageByChapter,
    facts: Mapping[str, str] | None = None,
) -> None:
    """Write the report to `path`, replacing an existing file only once the page is complete.

    Rows are in the order of the book. `facts` are names and values to list with the counts.
    """
    counts = BookCounts()
    languages = _Languages(source_language, target_language)
    with TemporaryFile("w+", encoding="utf-8", errors="replace", newline="\n") as body:
        chapters = groupby(counts.count(rows), key=lambda row: row.planned.chapter)
        body.writelines(_PAGE.generate("rows.html", chapters=chapters, languages=languages))
        body.seek(0)
        _PAGE.write(
            path,
            "report.html",
            title=title,
            subtitle=subtitle,
            facts={"Languages": str(languages)} | counts.facts() | dict(facts or {}),
            counts=counts,
            rows=map(Markup, body),  # safe: rows.html has escaped them
        )


def _chips(text: str) -> Markup:
    """The text with inline marks drawn by the style sheet, so that they are neither searched nor copied."""
    if "⟦" not in text:
        return escape(text)
    sign = Markup('<span class="mark {}" data-mark="{}"></span>')
    return Markup("").join(sign.format(run.role, run.number) if run.role else run.text for run in split_at_marks(text))


def _fragment(anchor: str) -> str:
    return "#" + quote(anchor, safe="/:@!$&'()*+,;=?-._~", errors="replace")


_PAGE = Page(
    "ape.reports",
    styles=["book.css"],
    scripts=["script.js"],
    filters={"chips": _chips, "fragment": _fragment, "without_marks": strip_marks},
    names={
        "paragraph_anchor": paragraph_anchor,
        "split_at_edits": split_at_edits,
        "plots": book_plots,
        "paragraph_status": paragraph_status,
    },
)
