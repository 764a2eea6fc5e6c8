"""Reader for outputs by id: JSON lines with "id" and "output", in any order, one for each case of a suite."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ape.errors import InputError
from ape.files.rows import describe_validation_error
from eval.corpus.raw_document import TextLines, numbered_lines


class _Output(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)
    id: str
    output: str | tuple[str, ...]


def read_outputs_by_id(path: Path, segments: Mapping[str, int], *, case_noun: str) -> list[TextLines]:
    """Outputs in the order of `segments`, which has the number of texts for each id; errors call a case `case_noun`."""
    found: dict[str, TextLines] = {}
    for number, line in numbered_lines(path):
        if line.strip():
            place = f"Line {number} of {path.name}"
            given = _parse(line, place)
            _check(given, place, segments, found, case_noun)
            texts = (given.output,) if isinstance(given.output, str) else given.output
            found[given.id] = TextLines(path.name, texts, (number,) * len(texts))
    if missing := [one for one in segments if one not in found]:
        raise InputError(f"{path.name} has no output for {case_noun} {missing[0]!r}.", field="system")
    return [found[one] for one in segments]


def _check(
    given: _Output, place: str, segments: Mapping[str, int], found: Mapping[str, TextLines], case_noun: str
) -> None:
    if given.id not in segments:
        raise InputError(f"{place}: there is no {case_noun} {given.id!r} in the data of the suite.", field="system")
    if given.id in found:
        first = found[given.id].numbers
        raise InputError(f"{place}: {case_noun} {given.id!r} has an output in line {first[0]} already.", field="system")
    number = 1 if isinstance(given.output, str) else len(given.output)
    if number != segments[given.id]:
        raise InputError(
            f"{place}: {case_noun} {given.id!r} has {segments[given.id]} source segments, and its output has {number}.",
            field="system",
        )


def _parse(line: str, place: str) -> _Output:
    try:
        return _Output.model_validate_json(line)
    except ValidationError as error:
        message = describe_validation_error(error, root="the line")
        raise InputError(f"{place}: {message}.", field="system") from error
