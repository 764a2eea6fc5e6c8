"""Writing the report: rows stream to a temporary file while they are counted, then the page is put around them.

The numbers and plots stand first but are known last. So the memory taken is that of one row and of the counts,
however long the book.

Rows are plain HTML and the browser lays out only those in view, so the report can be read, searched with the
browser's own search and printed without any script. The script adds filters, search and keys.

Text is never HTML here: the templates escape whatever comes from a book or a model. Should they ever fail to,
the page's content security policy runs no script and no style but its own, and loads nothing from anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryFile
from urllib.parse import quote

from jinja2 import Environment, Template
from markupsafe import Markup, escape

from ape.files.atomic import write_text_atomic
from ape.jobs.job_paragraph import JobParagraph
from ape.reports import book_plots
from ape.reports.base_page import page_asset, page_templates
from ape.reports.book_counts import BookCounts, paragraph_anchor, paragraph_status
from ape.reports.text_pieces import split_at_edits, split_at_marks
from ape.text.inline_marks import strip_marks
from ape.text.languages import language_name

# One language for the whole book, or one for each chapter by its number.
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
    """Write the report to `path`, replacing what was there only once the page is whole.

    Rows come in the order of the book. `facts` are lines to add to the numbers: names and values.
    """
    tally = BookCounts()
    languages = _Languages(source_language, target_language)
    with TemporaryFile("w+", encoding="utf-8", errors="replace", newline="\n") as body:
        chapters = groupby(tally.count(rows), key=lambda row: row.planned.chapter)
        body.writelines(_template("rows.html").generate(chapters=chapters, languages=languages))
        body.seek(0)
        page = _template("report.html").generate(
            title=title,
            subtitle=subtitle,
            facts={"Languages": str(languages)} | tally.facts() | dict(facts or {}),
            tally=tally,
            rows=map(Markup, body),  # safe: the template escaped them as it wrote them
            style=page_asset("ape.reports", "style.css"),
            script=page_asset("ape.reports", "script.js"),
        )
        write_text_atomic(path, page)


def _chips(text: str) -> Markup:
    """The text with its marks as small signs that are drawn, not written: they are neither found nor copied."""
    if "⟦" not in text:
        return escape(text)
    sign = Markup('<span class="mark {}" data-mark="{}"></span>')
    return Markup("").join(
        sign.format(run.role, run.number) if run.role else run.text for run in split_at_marks(text)
    )


def _fragment(anchor: str) -> str:
    return "#" + quote(anchor, safe="/:@!$&'()*+,;=?-._~", errors="replace")


@lru_cache
def _templates() -> Environment:
    return page_templates(
        "ape.reports",
        filters={"chips": _chips, "fragment": _fragment, "without_marks": strip_marks},
        names={
            "anchor_of": paragraph_anchor,
            "pieces": split_at_edits,
            "plots": book_plots,
            "status_of": paragraph_status,
        },
    )


def _template(name: str) -> Template:
    return _templates().get_template(name)
