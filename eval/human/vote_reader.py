"""Reader of vote files: saved by the offline page, JSON lines, CSV, and Label Studio exports.

Votes may name the systems. Votes from a page or a completed sheet only know A and B; their systems are filled in from
the rater's sheet. VOTE_COLUMNS are the columns of a table, or the keys of a JSON line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError

from ape.errors import InputError
from ape.files.rows import describe_validation_error, read_csv, read_jsonl, read_utf8
from ape.files.spreadsheet_cells import unescape_formula
from eval.human.answer import RaterAnswer, VoteBuilder, read_answer
from eval.human.pearmut import is_pearmut, read_annotations
from eval.human.trial import Trial
from eval.human.trial_index import TrialIndex
from eval.human.vote import DisplayOrder, TrialItemKind, Vote

VOTE_COLUMNS: Mapping[str, str] = {
    "item": "the item voted on",
    "rater": "who voted",
    "first": "the system shown first, as A",
    "second": "the system shown second, as B",
    "choice": "first, second or tie; also a, b, =",
    "order": "shown (default), or unknown if first and second are not the order of display",
    "confidence": "sure or unsure",
    "believed_human": "which text was believed human: first, second, both or neither",
    "book, language, document, passage": "where the item is from; votes on a document or passage are not independent",
    "kind, repeats": "pair (default), repeat or spam; the item that a repeat shows again",
    "scores, spans": "by side: scores from 0 to 100, and lists of start, end, severity and category, as JSON",
    "errors_first, errors_second, comment, at": "error kinds separated by semicolons, a remark, the time",
}
"""The columns of vote files, with their meaning; the first five are required where no trial is given."""
# Spellings of answers.
_SIDES = {"a": "first", "b": "second"}
_ANSWERS: Mapping[str, Mapping[str, str]] = {
    "choice": _SIDES | {"=": "tie", "same": "tie"},
    "believed_human": _SIDES,
    "confidence": {},
    "order": {},
}


class VoteRow(RaterAnswer):
    """A vote that names its systems; the data of the item comes from the trial, if given."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    rater: Annotated[str, Field(min_length=1)]
    first: Annotated[str, Field(min_length=1)]
    second: Annotated[str, Field(min_length=1)]
    kind: TrialItemKind = "pair"
    repeats: str = ""
    book: str = ""
    language: str = ""
    document: str = ""
    passage: str = ""
    order: DisplayOrder = "shown"

    def to_vote(self) -> Vote:
        """Convert to a vote."""
        return Vote(**{name: getattr(self, name) for name in Vote.__dataclass_fields__})


def read_votes(path: Path, trial: Trial | None = None) -> list[Vote]:
    """Read the votes of a file.

    With a trial each vote is checked against it; without, each must name its systems. Errors name the line.
    """
    return [vote for _, vote in read_located_votes(path, trial)]


def read_located_votes(path: Path, trial: Trial | None = None) -> list[tuple[str, Vote]]:
    """Read the votes of a file, each with its location: "Line 3 of votes.csv"."""
    if path.suffix.lower() in (".csv", ".jsonl", ".ndjson"):
        return list(_of_rows(_rows(path), trial))
    if path.suffix.lower() != ".json":
        raise InputError(f"{path.name} is not a vote file: use .json, .jsonl or .csv.", field="votes")
    try:
        values = json.loads(read_utf8(path, field="votes"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path.name} is not JSON.", field="votes") from error
    if is_pearmut(values):
        if trial is None:
            raise InputError(
                f"{path.name} is of Pearmut: its votes need the trial. Without one, analyse its spans alone.",
                field="trial",
            )
        return [(path.name, vote) for vote in read_annotations(values, trial, place=path.name)]
    if isinstance(values, list):
        from eval.human.label_studio import read_export

        return [(path.name, vote) for vote in read_export(values, trial, place=path.name)]
    return list(_of_page(values, trial, path.name))


def _of_page(values: Any, trial: Trial | None, place: str) -> Iterator[tuple[str, Vote]]:
    """Votes saved by the offline page."""
    keys = ("trial", "rater", "votes")
    if not isinstance(values, dict) or not all(key in values for key in keys) or not isinstance(values["votes"], list):
        raise InputError(
            f"{place} is not a vote file of the offline page: it lacks trial, rater or votes.", field="votes"
        )
    known = _check_trial(values["trial"], trial, place)
    builders = VoteBuilder(known, _rater(values["rater"], place))
    for number, one in enumerate(values["votes"], 1):
        at = f"{place}, vote {number}"
        answer = read_answer(one, place=at)
        with _located(at):
            yield at, builders.build_vote(answer)


def _of_rows(rows: Iterable[tuple[str, dict[str, Any]]], trial: Trial | None) -> Iterator[tuple[str, Vote]]:
    """Votes that name their systems, or rows of a completed sheet; rows without a choice are skipped."""
    builders: dict[str, VoteBuilder] = {}
    index = TrialIndex(trial) if trial else None
    for place, row in rows:
        if missing := _needed(trial) - row.keys():
            missing |= set() if trial else {"first", "second"} - row.keys()
            raise InputError(f"{place} is not a vote: it lacks {_names(missing)}.", field="votes")
        given = {name: value for name, value in (row | _answers(row)).items() if value not in ("", None)}
        if "choice" not in given and "scores" not in given:
            continue
        if "first" in given and "second" in given:
            yield place, _parse_named_vote(given, index, place)
            continue
        known = _check_trial(given.get("trial"), trial, place)
        rater = _rater(given.get("rater"), place)
        if rater not in builders:
            builders[rater] = VoteBuilder(known, rater)
        answer = read_answer({name: given[name] for name in RaterAnswer.model_fields if name in given}, place=place)
        with _located(place):
            yield place, builders[rater].build_vote(answer)


def _needed(trial: Trial | None) -> set[str]:
    return {"item", "choice", "rater"} | ({"trial"} if trial else set())


def _names(columns: Iterable[str]) -> str:
    """Quoted names in the order of VOTE_COLUMNS."""
    order = ["trial", *VOTE_COLUMNS]
    return ", ".join(repr(name) for name in sorted(columns, key=order.index))


def _answers(row: Mapping[str, Any]) -> dict[str, str]:
    """Normalise the spellings of answers."""
    answers = {name: row[name].strip().lower() for name in _ANSWERS if isinstance(row.get(name), str)}
    return {name: _ANSWERS[name].get(value, value) for name, value in answers.items()}


def _parse_named_vote(row: Mapping[str, Any], index: TrialIndex | None, place: str) -> Vote:
    try:
        vote = VoteRow.model_validate(row).to_vote()
    except ValidationError as error:
        raise InputError(f"{place} can't be read: {describe_validation_error(error)}.", field="votes") from error
    if index is None:
        return vote
    _check_trial(row.get("trial"), index.trial, place)
    with _located(place):
        return index.complete_vote(vote)


@contextmanager
def _located(place: str) -> Iterator[None]:
    """Prefix errors with the location of the vote."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}", field=error.field) from error


def _check_trial(id: object, trial: Trial | None, place: str) -> Trial:
    if trial is None:
        raise InputError(f"{place} does not name the systems: give the trial that it belongs to.", field="trial")
    if id is None:
        raise InputError(f"{place} does not name its trial; expected {trial.id!r} ({trial.name}).", field="trial")
    if id != trial.id:
        raise InputError(
            f"{place} belongs to the trial {str(id)[:40]!r}, not to {trial.id!r} ({trial.name}). "
            "Give the matching trial.",
            field="trial",
        )
    return trial


def _rater(name: object, place: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{place} does not name the rater.", field="rater")
    return name


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a table or of JSON lines, each with its location."""
    if path.suffix.lower() == ".csv":
        for number, cells in read_csv(read_utf8(path, field="votes"), path.name, field="votes"):
            row = {name: unescape_formula(cell) for name, cell in cells.items()}
            place = f"Line {number} of {path.name}"
            yield place, _with_objects(_with_errors(row), place)
    else:
        for number, values in read_jsonl(path, field="votes"):
            yield f"Line {number} of {path.name}", _with_errors(values)


def _with_objects(row: dict[str, Any], place: str) -> dict[str, Any]:
    """Parse the cells that hold JSON."""
    try:
        return row | {name: json.loads(row[name]) for name in ("scores", "spans") if row.get(name)}
    except ValueError as error:
        raise InputError(f"{place}: scores and spans must be JSON.", field="votes") from error


def _with_errors(row: dict[str, Any]) -> dict[str, Any]:
    """Merge the error cells of both texts into one value."""
    if "errors" in row:
        return row
    found: dict[str, list[str]] = {}
    for side, names in (("first", ("errors_first", "errors_a")), ("second", ("errors_second", "errors_b"))):
        cell = next((str(row[name]) for name in names if row.get(name)), "")
        if kinds := [kind.strip().lower() for kind in cell.replace(",", ";").split(";") if kind.strip()]:
            found[side] = kinds
    return row | {"errors": found}
