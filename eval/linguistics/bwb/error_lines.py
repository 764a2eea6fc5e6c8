r"""Reader for error lines: an MT sentence and, separated by tabs, the errors a translator marked in it.

`Joe bowed his head.\t4,Joe <pos/1,3>\t3,her, his <pos/11,13>`: a kind, the correction (except for entities), the
erroneous words, and their position; characters count from 1, inclusive. Errors of one kind are separated by semicolons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import regex

from eval.corpus.annotation_issue import AnnotationIssue

ERROR_KINDS = {
    "0": "none",
    "1": "ambiguity",
    "2": "pronoun omitted",
    "3": "ellipsis",
    "4": "entity",
    "5": "tense",
    "6": "sentence",
}
WITH_CORRECTION = ("ambiguity", "ellipsis")
_FIELD = regex.compile(r"\s*(?P<kind>\d+)\s*(?:,\s*(?P<rest>.*))?", regex.DOTALL)
_ITEM = regex.compile(r"(?P<words>.*?)\s*<pos/(?P<first>\d+),\s*(?P<last>\d+)>\s*")


@dataclass(frozen=True, slots=True)
class BwbErrorItem:
    """One error: the erroneous words and the correction; without a position it concerns the sentence."""

    kind: str
    found: str = ""
    correction: str = ""
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class BwbErrorLine:
    """An MT sentence with its errors, if any."""

    text: str
    errors: tuple[BwbErrorItem, ...]


def read_errors(path: Path) -> tuple[tuple[BwbErrorLine, ...], tuple[AnnotationIssue, ...]]:
    """Read the lines of a file, and the issues in them."""
    return parse_errors(path.read_text(encoding="utf-8-sig").splitlines())


def parse_errors(lines: Sequence[str]) -> tuple[tuple[BwbErrorLine, ...], tuple[AnnotationIssue, ...]]:
    """Parse all lines. An error with a wrong position is an issue and moves to the nearest occurrence of its words."""
    read, issues = [], []
    for number, line in enumerate(lines, 1):
        text, *fields = line.split("\t")
        column = len(text) + 2
        errors: list[BwbErrorItem] = []
        if not any(field.strip() for field in fields):
            issues.append(AnnotationIssue(number, len(line) + 1, "no error kind after the sentence, not even 0"))
        for field in fields:
            for found in _field(text, field):
                if isinstance(found, BwbErrorItem):
                    errors.append(found)
                else:
                    issues.append(AnnotationIssue(number, column, found))
            column += len(field) + 1
        read.append(BwbErrorLine(text, tuple(errors)))
    return tuple(read), tuple(issues)


def _field(text: str, field: str) -> Iterator[BwbErrorItem | str]:
    """The errors of one field, or what is wrong with it."""
    match = _FIELD.fullmatch(field)
    if match is None:
        if field.strip():
            yield f"{field!r} does not begin with the number of an error kind"
        return
    kind = ERROR_KINDS.get(match["kind"])
    if kind is None:
        yield f"{match['kind']} is not an error kind (0 to {len(ERROR_KINDS) - 1})"
        kind = f"kind {match['kind']}"
    if match["rest"] is None:
        if kind != "none":
            yield BwbErrorItem(kind)
        return
    for item in match["rest"].split(";"):
        yield from _item(text, kind, item)


def _item(text: str, kind: str, item: str) -> Iterator[BwbErrorItem | str]:
    placed = _ITEM.fullmatch(item)
    words = (placed["words"] if placed else item).strip()
    correction, comma, found = words.partition(",") if kind in WITH_CORRECTION else ("", ",", words)
    if not comma:
        yield f"{words!r} should be the correction, a comma, and the erroneous words"
        found, correction = correction, ""
    correction, found = correction.strip(), found.strip()
    if placed is None:
        yield f"{item.strip()!r} has no position such as <pos/1,3>"
        yield BwbErrorItem(kind, found, correction)
        return
    start, end = int(placed["first"]) - 1, int(placed["last"])
    if text[start:end] == found:
        yield BwbErrorItem(kind, found, correction, start, end)
        return
    yield f"characters {start + 1} to {end} are {text[start:end]!r}, not {found!r}"
    near = _nearest(text, found, start)
    yield (
        BwbErrorItem(kind, found, correction)
        if near is None
        else BwbErrorItem(kind, found, correction, near, near + len(found))
    )


def _nearest(text: str, words: str, place: int) -> int | None:
    starts = [match.start() for match in regex.finditer(regex.escape(words), text)] if words else []
    return min(starts, key=lambda start: abs(start - place), default=None)
