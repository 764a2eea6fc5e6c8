"""Rows for tests of reports, and texts that try to inject mark-up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ape.edits.diff import find_edits
from ape.jobs.job_paragraph import JobParagraph, ParagraphState, PlannedParagraph
from ape.passage.result import Decision, Finding, PostEdit, Severity, Usage
from ape.reports.book_page import write_book_report
from tests.ape.reports.parsed_page import Element, Tree

HOSTILE = (
    "</p></article><script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
    "</style><style>main { display: none }</style>\" onmouseover='x' 'single' &amp; & {{ 7 * 7 }} {% raw %}"
    "<!-- 👩‍👩‍👧 \u202eright to left\u202c \u2066isolated\u2069 ]]> \u0000 end"
)


def row(
    mt: str,
    post_edit: str,
    *,
    source: str = "Il la vit.",
    findings: tuple[Finding, ...] = (),
    decision: Decision | None = None,
    chapter: int = 0,
    title: str = "",
    id: str = "p1",
    position: int = 0,
    model: str = "m",
    language: str = "en",
) -> JobParagraph:
    """A finished paragraph."""
    edits = find_edits(mt, post_edit, language=language)
    made = decision or (Decision.EDITED if edits else Decision.UNCHANGED)
    answer = PostEdit(id, post_edit, made, findings, edits, 0.25, model, "chat@3f2a", Usage(1000, 20))
    return JobParagraph(
        PlannedParagraph(id, position, chapter, title, chapter, source, mt), ParagraphState.DONE, answer
    )


def rejected(mt: str, message: str, *, id: str = "p2") -> JobParagraph:
    """A paragraph whose drafts were refused."""
    findings = (
        Finding("length", Severity.REJECT, message, attempt=1),
        Finding("names", Severity.WARN, "Anna is missing", attempt=2),
    )
    return row(mt, mt, findings=findings, decision=Decision.REJECTED, id=id)


def unfinished(state: ParagraphState, *, reason: str = "", failures: int = 0, id: str = "p3") -> JobParagraph:
    """A paragraph without a result."""
    done = row("He ran.", "He ran.", id=id)
    return replace(done, state=state, result=None, reason=reason, failures=failures)


def report(path: Path, rows: Iterable[JobParagraph], *, title: str = "A Book", **more: str) -> Path:
    """The report of these rows, in a file."""
    write_book_report(
        path,
        iter(rows),
        title=title,
        subtitle=more.pop("subtitle", ""),
        source_language=more.pop("source_language", "fr"),
        target_language=more.pop("target_language", "en"),
        facts=more,
    )
    return path


def report_of(folder: Path, *rows: JobParagraph, title: str = "A Book", **more: str) -> Element:
    """The report of these rows, parsed."""
    path = report(folder / "report.html", rows, title=title, **more)
    return Tree(path.read_text(encoding="utf-8")).root
