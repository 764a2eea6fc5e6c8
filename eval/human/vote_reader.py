"""Votes from files: what the offline page saved, JSON lines and CSV, exports of Label Studio.

Votes may name the systems that were shown, as our own files do. Those of a page or a filled sheet know only A and B,
and have their systems filled in from the sheet of their rater.
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

# What people write for an answer, and what it means.
_SIDES = {"a": "first", "b": "second"}
_ANSWERS: Mapping[str, Mapping[str, str]] = {
    "choice": _SIDES | {"=": "tie", "same": "tie"},
    "believed_human": _SIDES,
    "confidence": {},
}


class VoteRow(RaterAnswer):
    """A vote that names its systems. What the trial knows of the item is taken from there, where there is one."""

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
        """As it stands."""
        return Vote(**{name: getattr(self, name) for name in Vote.__dataclass_fields__})


def read_votes(path: Path, trial: Trial | None = None) -> list[Vote]:
    """The votes of a file: one that the offline page saved, JSON lines, CSV, or an export of Label Studio.

    With the trial, each is checked against it. Without, each has to name its systems. Raises InputError with the place
    of whatever does not fit.
    """
    return [vote for _, vote in read_located_votes(path, trial)]


def read_located_votes(path: Path, trial: Trial | None = None) -> list[tuple[str, Vote]]:
    """The votes of a file, each with the place where it stands: "Line 3 of votes.csv"."""
    text = _text(path)
    if path.suffix.lower() == ".csv":
        return list(_of_rows(_csv_rows(text, path.name, needed=_needed(trial)), trial))
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return list(_of_rows(_json_rows(text, path.name), trial))
    if path.suffix.lower() != ".json":
        raise InputError(
            f"{path.name} holds no votes that we can read: .json, .jsonl and .csv do.", field="votes"
        )
    values = _json(text, path.name)
    if isinstance(values, list):
        from eval.human.label_studio import read_export

        return [(path.name, vote) for vote in read_export(values, trial, place=path.name)]
    return list(_of_page(values, trial, path.name))


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8. Save it as that.", field="votes") from error
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.", field="votes") from error


def _json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not JSON.", field="votes") from error


def _of_page(values: Any, trial: Trial | None, place: str) -> Iterator[tuple[str, Vote]]:
    """What the offline page saved."""
    keys = ("trial", "rater", "votes")
    if (
        not isinstance(values, dict)
        or not all(key in values for key in keys)
        or not isinstance(values["votes"], list)
    ):
        raise InputError(
            f"{place} is no file of votes: it has no trial, rater and votes. Is it what the page saved?",
            field="votes",
        )
    known = _same(values["trial"], trial, place)
    ballots = VoteBuilder(known, _rater(values["rater"], place))
    for number, one in enumerate(values["votes"], 1):
        at = f"{place}, vote {number}"
        answer = read_answer(one, place=at)
        with _told_at(at):
            yield at, ballots.vote(answer)


def _of_rows(rows: Iterable[tuple[str, dict[str, Any]]], trial: Trial | None) -> Iterator[tuple[str, Vote]]:
    """Votes that name their systems, or rows of a sheet that was filled in; a row without a choice is no vote."""
    ballots: dict[str, VoteBuilder] = {}
    catalogue = TrialIndex(trial) if trial else None
    for place, row in rows:
        if missing := _needed(trial) - row.keys():
            raise InputError(
                f"{place} is no vote: it has no {min(missing)!r}. Is it from another project?", field="votes"
            )
        given = {name: value for name, value in (row | _answers(row)).items() if value not in ("", None)}
        if "choice" not in given:
            continue
        if "first" in given and "second" in given:
            yield place, _named(given, catalogue, place)
            continue
        known = _same(given.get("trial"), trial, place)
        rater = _rater(given.get("rater"), place)
        if rater not in ballots:
            ballots[rater] = VoteBuilder(known, rater)
        answer = read_answer(
            {name: given[name] for name in RaterAnswer.model_fields if name in given}, place=place
        )
        with _told_at(place):
            yield place, ballots[rater].vote(answer)


def _needed(trial: Trial | None) -> set[str]:
    return {"item", "choice", "rater"} | ({"trial"} if trial else set())


def _answers(row: Mapping[str, Any]) -> dict[str, str]:
    """The answers as we call them, however they are written; blank where there is none."""
    said = {name: row[name].strip().lower() for name in _ANSWERS if isinstance(row.get(name), str)}
    return {name: _ANSWERS[name].get(one, one) for name, one in said.items()}


def _named(row: Mapping[str, Any], catalogue: TrialIndex | None, place: str) -> Vote:
    try:
        vote = VoteRow.model_validate(row).to_vote()
    except ValidationError as error:
        raise InputError(
            f"{place} can't be read: {describe_validation_error(error)}.", field="votes"
        ) from error
    if catalogue is None:
        return vote
    _same(row.get("trial"), catalogue.trial, place)
    with _told_at(place):
        return catalogue.complete(vote)


@contextmanager
def _told_at(place: str) -> Iterator[None]:
    """What is wrong with a vote, with the place where it stands."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}", field=error.field) from error


def _same(id: object, trial: Trial | None, place: str) -> Trial:
    if trial is None:
        raise InputError(
            f"{place} does not name the systems that were shown: give the trial that it belongs to.",
            field="trial",
        )
    if id is None:
        raise InputError(
            f"{place} does not name its trial, and this is {trial.id!r} ({trial.name}).", field="trial"
        )
    if id != trial.id:
        raise InputError(
            f"{place} is of the trial {str(id)[:40]!r}, and this is {trial.id!r} ({trial.name}). Give the votes to the "
            "trial that they were made for.",
            field="trial",
        )
    return trial


def _rater(name: object, place: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{place} does not say who voted.", field="rater")
    return name


def _json_rows(text: str, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            at = f"Line {number} of {place}"
            row = _json(line, at)
            if not isinstance(row, dict):
                raise InputError(f"{at} is no vote: it is not a JSON object.", field="votes")
            yield at, _with_errors(row)


def _csv_rows(text: str, place: str, *, needed: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    # Where a comma is in numbers, spreadsheets part cells by semicolons.
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    if missing := needed - set(reader.fieldnames or ()):
        raise InputError(f"{place} has no column {min(missing)!r}: is it a table of votes?", field="votes")
    try:
        for row in reader:
            at = f"Line {reader.line_num} of {place}"
            if None in row or None in row.values():
                raise InputError(f"{at} has not as many cells as the first line.", field="votes")
            yield at, _with_errors({name: _as_meant(cell) for name, cell in row.items()})
    except csv.Error as error:
        raise InputError(
            f"Line {reader.line_num} of {place} can't be read: {error}.", field="votes"
        ) from error


def _as_meant(cell: str) -> str:
    """Without the apostrophe that keeps a spreadsheet from taking it for a formula, where it has one for that."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA_PREFIXES) else cell


def _with_errors(row: dict[str, Any]) -> dict[str, Any]:
    """The cells with errors of either text as one value."""
    if "errors" in row:
        return row
    found: dict[str, list[str]] = {}
    for side, names in (("first", ("errors_first", "errors_a")), ("second", ("errors_second", "errors_b"))):
        cell = next((str(row[name]) for name in names if row.get(name)), "")
        if kinds := [kind.strip().lower() for kind in cell.replace(",", ";").split(";") if kind.strip()]:
            found[side] = kinds
    return row | {"errors": found}
