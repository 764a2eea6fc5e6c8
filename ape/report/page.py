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

from ape.books.marks import without_marks
from ape.jobs.row import Row
from ape.languages import name_of
from ape.report import plots
from ape.report.pieces import pieces, runs
from ape.report.standalone import asset, templates, write_whole
from ape.report.tally import Tally, anchor_of, status_of

# One language for the whole book, or one for each chapter by its number.
Language = str | Mapping[int, str]


@dataclass(frozen=True, slots=True)
class _Languages:
    source: Language
    target: Language

    def sources(self, chapter: int) -> str:
        return self.source if isinstance(self.source, str) else self.source[chapter]

    def targets(self, chapter: int) -> str:
        return self.target if isinstance(self.target, str) else self.target[chapter]

    def __str__(self) -> str:
        return f"{_names(self.source)} to {_names(self.target)}"


def _names(language: Language) -> str:
    codes = [language] if isinstance(language, str) else dict.fromkeys(language.values())
    return " and ".join(name_of(code) for code in codes)


def write_report(
    path: Path,
    rows: Iterable[Row],
    *,
    title: str,
    subtitle: str = "",
    source_language: Language,
    target_language: Language,
    facts: Mapping[str, str] | None = None,
) -> None:
    """Write the report to `path`, replacing what was there only once the page is whole.

    Rows come in the order of the book. `facts` are lines to add to the numbers: names and values.
    """
    tally = Tally()
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
            style=asset("ape.report", "style.css"),
            script=asset("ape.report", "script.js"),
        )
        write_whole(path, page)


def _chips(text: str) -> Markup:
    """The text with its marks as small signs that are drawn, not written: they are neither found nor copied."""
    if "⟦" not in text:
        return escape(text)
    sign = Markup('<span class="mark {}" data-mark="{}"></span>')
    return Markup("").join(sign.format(run.role, run.number) if run.role else run.text for run in runs(text))


def _fragment(anchor: str) -> str:
    return "#" + quote(anchor, safe="/:@!$&'()*+,;=?-._~", errors="replace")


@lru_cache
def _templates() -> Environment:
    return templates(
        "ape.report",
        filters={"chips": _chips, "fragment": _fragment, "without_marks": without_marks},
        names={"anchor_of": anchor_of, "pieces": pieces, "plots": plots, "status_of": status_of},
    )


def _template(name: str) -> Template:
    return _templates().get_template(name)
