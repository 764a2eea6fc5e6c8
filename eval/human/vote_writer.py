"""Writers of votes and sheets as JSON lines or CSV.

A vote names its systems. A sheet for a rater names none: its texts are A and B.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ape.files.spreadsheet_cells import escape_formula
from eval.human.sheet import public_sheet
from eval.human.trial import Trial
from eval.human.vote import Vote

_VOTE = (
    "trial", "item", "rater", "first", "second", "choice", "confidence", "believed_human", "errors_first",
    "errors_second", "scores", "spans", "comment", "kind", "repeats", "book", "language", "document", "passage", "at",
    "order",
)  # fmt: skip
_ANSWER = ("choice", "confidence", "believed_human", "errors_a", "errors_b", "comment")
_SHEET = ("trial", "rater", "item", "source", "a", "b", *_ANSWER)


def votes_to_jsonl(votes: Iterable[Vote], trial: str) -> str:
    """One line per vote."""
    return "".join(json.dumps(_row(vote, trial), ensure_ascii=False) + "\n" for vote in votes)


def votes_to_csv(votes: Iterable[Vote], trial: str) -> str:
    """One row per vote."""
    return _table(_VOTE, (_flat(_row(vote, trial)) for vote in votes))


def sheet_to_csv(trial: Trial, rater: str) -> str:
    """The rater's sheet as CSV, for a spreadsheet."""
    return _table(_SHEET, _sheet_rows(trial, rater))


def sheet_to_jsonl(trial: Trial, rater: str) -> str:
    """The rater's sheet as JSON lines, for a program."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _sheet_rows(trial, rater))


def _row(vote: Vote, trial: str) -> dict[str, Any]:
    values = {name: getattr(vote, name) for name in Vote.__dataclass_fields__}
    errors = {side: list(kinds) for side, kinds in vote.errors.items()}
    spans = {side: [asdict(span) for span in own] for side, own in vote.spans.items()}
    return {"trial": trial, **values, "errors": errors, "scores": dict(vote.scores), "spans": spans}


def _flat(row: Mapping[str, Any]) -> dict[str, str]:
    """Put the errors of each text into a separate cell."""
    errors = {f"errors_{side}": "; ".join(kinds) for side, kinds in row["errors"].items()}
    nested = {name: json.dumps(row[name]) if row[name] else "" for name in ("scores", "spans")}
    return {name: value or "" for name, value in row.items() if name != "errors"} | errors | nested


def _sheet_rows(trial: Trial, rater: str) -> Iterator[dict[str, str]]:
    for item in public_sheet(trial, rater)["items"]:
        texts = {"source": item["sources"], "a": item["a"], "b": item["b"]}
        joined = {name: "\n\n".join(paragraphs) for name, paragraphs in texts.items()}
        yield {"trial": trial.id, "rater": rater, "item": item["id"], **joined, **dict.fromkeys(_ANSWER, "")}


def _table(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: escape_formula(value) for name, value in row.items()})
    return text.getvalue()
