"""Convert results and paragraphs to table rows and back, losslessly."""

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
    """Estimate the number of words; at least one, so that every waiting paragraph has a weight."""
    seen = strip_marks(text)
    return max(1, len((seen if seen.isascii() else _UNSPACED.sub(" x ", seen)).split()))


def result_columns(result: PostEdit) -> dict[str, Any]:
    """The columns of a result."""
    return {
        "passage": result.id,
        "post_edit": result.post_edit,
        "decision": result.decision.value,
        "findings": _dumps([(one.guard, one.severity, one.message, one.attempt) for one in result.findings]),
        "edits": _dumps(list(map(_edit_values, result.edits))),
        "edit_rate": result.edit_rate,
        "model": result.model,
        "prompt": result.prompt,
        "prompt_tokens": result.usage.prompt_tokens,
        "completion_tokens": result.usage.completion_tokens,
        "attempt": result.attempt,
    }


def _edit_values(edit: Edit) -> tuple[Any, ...]:
    """The values of an edit as stored; most edits have no reason."""
    values = (edit.kind, edit.before, edit.after, edit.mt_span, edit.span)
    return (*values, edit.reason) if edit.reason else values


def read_result(row: RowMapping) -> PostEdit:
    """Read a result from its row."""
    return PostEdit(
        id=row["passage"],
        post_edit=row["post_edit"],
        decision=Decision(row["decision"]),
        findings=tuple(
            Finding(guard, Severity(severity), message, attempt)
            for guard, severity, message, attempt in json.loads(row["findings"])
        ),
        edits=tuple(
            Edit(EditKind(kind), before, after, tuple(mt_span), tuple(span), *reason)
            for kind, before, after, mt_span, span, *reason in json.loads(row["edits"])
        ),
        edit_rate=row["edit_rate"],
        model=row["model"],
        prompt=row["prompt"],
        usage=Usage(row["prompt_tokens"], row["completion_tokens"]),
        attempt=row["attempt"],
    )


def join_result() -> ColumnElement[bool]:
    """Join condition of a paragraph and its current result."""
    return and_(
        results.c.job == paragraphs.c.job,
        results.c.fingerprint == paragraphs.c.fingerprint,
        results.c.paragraph == paragraphs.c.id,
        results.c.retired == 0,
    )


def join_current_result() -> ColumnElement[bool]:
    """The same for paragraphs that are done: a skipped one may have an earlier result."""
    return and_(join_result(), paragraphs.c.state == ParagraphState.DONE)


def select_paragraphs() -> Select[Any]:
    """Select paragraphs with their results, for `read_paragraph`."""
    return select(
        *(paragraphs.c[name] for name in PLANNED_COLUMNS),
        *(paragraphs.c[name] for name in ("state", "failures")),
        paragraphs.c.reason.label("why"),
        *(results.c[name] for name in _RESULT),
    ).outerjoin_from(paragraphs, results, join_current_result())


def read_paragraph(row: RowMapping) -> JobParagraph:
    """Read a paragraph with its state and result."""
    return JobParagraph(
        planned=read_planned(row),
        state=ParagraphState(row["state"]),
        result=read_result(row) if row["passage"] is not None else None,
        reason=row["why"],
        failures=row["failures"],
        seconds=row["seconds"] or 0.0,
    )


def read_planned(row: RowMapping) -> PlannedParagraph:
    """Read a planned paragraph."""
    return PlannedParagraph(**{name: row[name] for name in PLANNED_COLUMNS})
