"""Results and paragraphs as rows of a table, and back, exactly."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, and_, select

from ape.jobs.job_paragraph import JobParagraph, ParagraphState, PlannedParagraph
from ape.jobs.tables import paragraphs, results
from ape.passage.edit import Edit, EditKind
from ape.passage.result import Decision, Finding, PostEdit, Severity, Usage
from ape.text.inline_marks import strip_marks

_RESULT = (
    "passage", "post_edit", "decision", "findings", "edits", "edit_rate", "model", "prompt", "prompt_tokens",
    "completion_tokens", "attempt", "seconds",
)  # fmt: skip
_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
PLANNED_COLUMNS = tuple(field.name for field in fields(PlannedParagraph))
# Scripts that put no spaces between words: there a character counts as one.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def count_words(text: str) -> int:
    """About how many words; at least one, so that what waits always weighs something."""
    seen = strip_marks(text)
    return max(1, len((seen if seen.isascii() else _UNSPACED.sub(" x ", seen)).split()))


def result_columns(result: PostEdit) -> dict[str, Any]:
    """The result by the columns of its table."""
    return {
        "passage": result.id,
        "post_edit": result.post_edit,
        "decision": result.decision.value,
        "findings": _dumps([(one.guard, one.severity, one.message, one.attempt) for one in result.findings]),
        "edits": _dumps([(one.kind, one.before, one.after, one.mt_span, one.span) for one in result.edits]),
        "edit_rate": result.edit_rate,
        "model": result.model,
        "prompt": result.prompt,
        "prompt_tokens": result.usage.prompt_tokens,
        "completion_tokens": result.usage.completion_tokens,
        "attempt": result.attempt,
    }


def read_result(row: RowMapping) -> PostEdit:
    """The result as it was given."""
    return PostEdit(
        id=row["passage"],
        post_edit=row["post_edit"],
        decision=Decision(row["decision"]),
        findings=tuple(
            Finding(guard, Severity(severity), message, attempt)
            for guard, severity, message, attempt in json.loads(row["findings"])
        ),
        edits=tuple(
            Edit(EditKind(kind), before, after, tuple(mt_span), tuple(span))
            for kind, before, after, mt_span, span in json.loads(row["edits"])
        ),
        edit_rate=row["edit_rate"],
        model=row["model"],
        prompt=row["prompt"],
        usage=Usage(row["prompt_tokens"], row["completion_tokens"]),
        attempt=row["attempt"],
    )


def join_result() -> ColumnElement[bool]:
    """How a paragraph finds the result that counts for it."""
    return and_(
        results.c.job == paragraphs.c.job,
        results.c.fingerprint == paragraphs.c.fingerprint,
        results.c.paragraph == paragraphs.c.id,
        results.c.retired == 0,
    )


def join_current_result() -> ColumnElement[bool]:
    """The same, where it is in the book: one that is skipped now may have been done before."""
    return and_(join_result(), paragraphs.c.state == ParagraphState.DONE)


def select_paragraphs() -> Select[Any]:
    """Paragraphs with their results; `to_row` reads what it gives."""
    return select(
        *(paragraphs.c[name] for name in PLANNED_COLUMNS),
        *(paragraphs.c[name] for name in ("state", "failures")),
        paragraphs.c.reason.label("why"),
        *(results.c[name] for name in _RESULT),
    ).outerjoin_from(paragraphs, results, join_current_result())


def read_paragraph(row: RowMapping) -> JobParagraph:
    """A paragraph with what has become of it."""
    return JobParagraph(
        planned=read_planned(row),
        state=ParagraphState(row["state"]),
        result=read_result(row) if row["passage"] is not None else None,
        reason=row["why"],
        failures=row["failures"],
        seconds=row["seconds"] or 0.0,
    )


def read_planned(row: RowMapping) -> PlannedParagraph:
    """A paragraph as it was planned."""
    return PlannedParagraph(**{name: row[name] for name in PLANNED_COLUMNS})
