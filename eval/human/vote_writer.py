"""Votes and sheets as text: JSON lines, or CSV for a spreadsheet.

A vote names the systems that were shown as first and second. A sheet for a rater to fill in names none: there the texts
are A and B.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from eval.human.sheet import public_sheet
from eval.human.trial import Trial
from eval.human.vote import Vote

_VOTE = (
    "trial", "item", "rater", "first", "second", "choice", "confidence", "believed_human", "errors_first",
    "errors_second", "comment", "kind", "repeats", "book", "language", "document", "passage", "at",
)  # fmt: skip
_ANSWER = ("choice", "confidence", "believed_human", "errors_a", "errors_b", "comment")
_SHEET = ("trial", "rater", "item", "source", "a", "b", *_ANSWER)
# A spreadsheet would take a cell that begins so for a formula, and run it.
FORMULA_PREFIXES = tuple("=+-@\t\r'")


def votes_to_jsonl(votes: Iterable[Vote], trial: str) -> str:
    """One line for each."""
    return "".join(json.dumps(_row(vote, trial), ensure_ascii=False) + "\n" for vote in votes)


def votes_to_csv(votes: Iterable[Vote], trial: str) -> str:
    """One row for each."""
    return _table(_VOTE, (_flat(_row(vote, trial)) for vote in votes))


def sheet_to_csv(trial: Trial, rater: str) -> str:
    """The rater's sheet, to be filled in with any spreadsheet."""
    return _table(_SHEET, _sheet_rows(trial, rater))


def sheet_to_jsonl(trial: Trial, rater: str) -> str:
    """The rater's sheet, to be filled in by a program."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _sheet_rows(trial, rater))


def _row(vote: Vote, trial: str) -> dict[str, Any]:
    values = {name: getattr(vote, name) for name in Vote.__dataclass_fields__}
    errors = {side: list(kinds) for side, kinds in vote.errors.items()}
    return {"trial": trial, **values, "errors": errors}


def _flat(row: Mapping[str, Any]) -> dict[str, str]:
    """With the errors of either text in a cell of its own."""
    errors = {f"errors_{side}": "; ".join(kinds) for side, kinds in row["errors"].items()}
    return {name: value or "" for name, value in row.items() if name != "errors"} | errors


def _sheet_rows(trial: Trial, rater: str) -> Iterator[dict[str, str]]:
    told = public_sheet(trial, rater)
    for item in told["items"]:
        texts = {"source": item["sources"], "a": item["a"], "b": item["b"]}
        joined = {name: "\n\n".join(paragraphs) for name, paragraphs in texts.items()}
        yield {"trial": trial.id, "rater": rater, "item": item["id"], **joined, **dict.fromkeys(_ANSWER, "")}


def _table(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _harmless(value) for name, value in row.items()})
    return text.getvalue()


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA_PREFIXES) else cell
