"""Reader of vote files: saved by the offline page, JSON lines, CSV, and Label Studio exports.

Votes may name the systems. Votes from a page or a completed sheet only know A and B; their systems are filled in from
the rater's sheet.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError

from ape.errors import InputError
from ape.files.rows import describe_validation_error
from eval.human.answer import RaterAnswer, VoteBuilder, read_answer
from eval.human.trial import Trial
from eval.human.trial_index import TrialIndex
from eval.human.vote import TrialItemKind, Vote
from eval.human.vote_writer import FORMULA_PREFIXES

# Spellings of answers.
_SIDES = {"a": "first", "b": "second"}
_ANSWERS: Mapping[str, Mapping[str, str]] = {
    "choice": _SIDES | {"=": "tie", "same": "tie"},
    "believed_human": _SIDES,
    "confidence": {},
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
    text = _text(path)
    if path.suffix.lower() == ".csv":
        return list(_of_rows(_csv_rows(text, path.name, needed=_needed(trial)), trial))
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return list(_of_rows(_json_rows(text, path.name), trial))
    if path.suffix.lower() != ".json":
        raise InputError(f"{path.name} is not a vote file: use .json, .jsonl or .csv.", field="votes")
    values = _json(text, path.name)
    if isinstance(values, list):
        from eval.human.label_studio import read_export

        return [(path.name, vote) for vote in read_export(values, trial, place=path.name)]
    return list(_of_page(values, trial, path.name))


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8. Save it in UTF-8.", field="votes") from error
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.", field="votes") from error


def _json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not JSON.", field="votes") from error


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
            raise InputError(f"{place} is not a vote: it lacks {min(missing)!r}.", field="votes")
        given = {name: value for name, value in (row | _answers(row)).items() if value not in ("", None)}
        if "choice" not in given:
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


def _json_rows(text: str, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            at = f"Line {number} of {place}"
            row = _json(line, at)
            if not isinstance(row, dict):
                raise InputError(f"{at} is not a vote: it is not a JSON object.", field="votes")
            yield at, _with_errors(row)


def _csv_rows(text: str, place: str, *, needed: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    # In locales with a decimal comma, spreadsheets separate cells by semicolons.
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    if missing := needed - set(reader.fieldnames or ()):
        raise InputError(f"{place} has no column {min(missing)!r}, so it is not a table of votes.", field="votes")
    try:
        for row in reader:
            at = f"Line {reader.line_num} of {place}"
            if None in row or None in row.values():
                raise InputError(f"{at} differs from the first line in the number of cells.", field="votes")
            yield at, _with_errors({name: _unescape_formula(cell) for name, cell in row.items()})
    except csv.Error as error:
        raise InputError(f"Line {reader.line_num} of {place} can't be read: {error}.", field="votes") from error


def _unescape_formula(cell: str) -> str:
    """Remove the apostrophe that protects a cell from being read as a formula."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA_PREFIXES) else cell


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
