r"""Reader for the names of a reference, counted by line: `PERSON: (Qiao Lian: 1; )\tNONPERSON: (WeChat: 1; )`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import regex

from eval.corpus.annotation_issue import AnnotationIssue

_LINE = regex.compile(r"PERSON:\s*\((?P<person>[^()]*)\)\s+NONPERSON:\s*\((?P<other>[^()]*)\)\s*")
_NAME = regex.compile(r"(?P<name>.+):\s*(?P<times>\d+)")


@dataclass(frozen=True, slots=True)
class BwbNames:
    """The number of occurrences of each name in a line."""

    persons: Counter[str]
    others: Counter[str]


def read_names(path: Path) -> tuple[tuple[BwbNames, ...], tuple[AnnotationIssue, ...]]:
    """Read the lines of a file, and the issues in them."""
    return parse_names(path.read_text(encoding="utf-8-sig").splitlines())


def parse_names(lines: Sequence[str]) -> tuple[tuple[BwbNames, ...], tuple[AnnotationIssue, ...]]:
    """Parse all lines; a name counted separately because of its ’s is an issue, and stays as it is."""
    read, issues = [], []
    for number, line in enumerate(lines, 1):
        names, wrong = _line(line)
        read.append(names)
        issues += [AnnotationIssue(number, column, message) for column, message in wrong]
    return tuple(read), tuple(issues)


def _line(line: str) -> tuple[BwbNames, list[tuple[int, str]]]:
    """The names of a line, and issues by column."""
    match = _LINE.fullmatch(line)
    if match is None:
        return BwbNames(Counter(), Counter()), [(1, "the line is not PERSON: (…) and NONPERSON: (…)")]
    wrong: list[tuple[int, str]] = []
    persons, others = (_side(match[side], match.start(side) + 1, wrong) for side in ("person", "other"))
    for name in others:
        if name.endswith(("’s", "'s")) and name[:-2] in persons:
            wrong.append((line.index(name) + 1, f"{name!r} is counted separately from {name[:-2]!r}"))
    return BwbNames(persons, others), wrong


def _side(items: str, column: int, wrong: list[tuple[int, str]]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for item in items.split(";"):
        name = _NAME.fullmatch(item.strip())
        if name:
            counted[name["name"].strip()] += int(name["times"])
        elif item.strip():
            wrong.append((column, f"{item.strip()!r} is not a name, a colon and a number"))
        column += len(item) + 1
    return counted
