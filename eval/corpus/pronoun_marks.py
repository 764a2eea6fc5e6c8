"""Marks of dropped pronouns in a Chinese source, and their removal.

A mark is `<他>_S`: a pronoun that the source leaves out, and its role in the sentence (subject, object, possessive,
reflexive or unsure).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from eval.corpus.annotation_issue import AnnotationIssue

PRONOUN_ROLES: Mapping[str, str] = {"S": "subject", "O": "object", "Pa": "possessive", "R": "reflexive", "UN": "unsure"}
CHINESE_PRONOUNS: Mapping[str, str] = {
    "我们": "we", "咱们": "we", "你们": "you", "他们": "they", "她们": "they", "它们": "they",
    "我": "I", "你": "you", "您": "you", "他": "he", "她": "she", "它": "it", "这": "this", "那": "this",
}  # fmt: skip
"""The person of each pronoun, as an English word."""
_MARK = regex.compile(r"<\s*(?P<pronoun>[^<>_]{1,6}?)\s*(?:>\s*_(?P<role>[A-Za-z]+)|>|_(?P<open>[A-Za-z]+))")

# 其他 is "other", 吉他 a guitar, 他人 other people; 这 and 那 in the text are mostly not pronouns.
_OVERT_PRONOUN = regex.compile(r"我们|咱们|你们|他们|她们|它们|我|你|您|(?<![其吉])他(?!人)|她|(?<!其)它")


@dataclass(frozen=True, slots=True)
class DroppedPronoun:
    """A marked pronoun: the offsets of its mark, its role and its person."""

    start: int
    end: int
    pronoun: str
    role: str
    """A value of PRONOUN_ROLES; "unsure" where the mark has no known role."""
    person: str
    """A value of CHINESE_PRONOUNS."""


def parse_dropped_pronouns(source: str) -> list[DroppedPronoun]:
    """The dropped pronouns marked in a source segment."""
    return list(_dropped_pronouns(source))


def overt_pronouns(source: str) -> list[str]:
    """The personal pronouns that a source segment has in its text."""
    return _OVERT_PRONOUN.findall(remove_pronoun_marks(source))


def omitted_share(sources: Sequence[str]) -> float | None:
    """The share of dropped pronouns among all of a marked text; None without pronouns."""
    dropped = sum(len(parse_dropped_pronouns(source)) for source in sources)
    overt = sum(len(overt_pronouns(source)) for source in sources)
    return dropped / (dropped + overt) if dropped + overt else None


def remove_pronoun_marks(source: str) -> str:
    """The source as its author wrote it. A tag such as <b> has neither a pronoun nor a role, so it stays."""
    return _MARK.sub(lambda mark: "" if _is_mark(mark) else mark.group(), source)


def find_mark_issues(sources: Sequence[str]) -> list[AnnotationIssue]:
    """Malformed marks. All are used in spite of that, except those of an unknown pronoun."""
    issues = []
    for number, source in enumerate(sources, 1):
        for mark in _MARK.finditer(source):
            if message := _mark_error(mark):
                issues.append(AnnotationIssue(number, mark.start() + 1, f"{mark.group()}: {message}"))
        rest = _MARK.sub(lambda mark: " " * len(mark.group()), source)
        issues += [
            AnnotationIssue(number, bracket.start() + 1, f"a {bracket.group()!r} outside any mark")
            for bracket in regex.finditer("[<>]", rest)
        ]
    return issues


def _mark_error(mark: regex.Match[str]) -> str:
    role = mark["role"] or mark["open"]
    if mark["open"]:
        return "the closing > is missing"
    if role is None:
        return "the role in the sentence is missing"
    if role not in PRONOUN_ROLES:
        return f"{role} is not a role; expected one of {', '.join(PRONOUN_ROLES)}"
    return "" if _person(mark["pronoun"]) else "unknown pronoun"


def _is_mark(mark: regex.Match[str]) -> bool:
    return bool(_person(mark["pronoun"])) or (mark["role"] or mark["open"]) in PRONOUN_ROLES


def _person(pronoun: str) -> str:
    stem = pronoun.replace("們", "们").replace("自己", "").removesuffix("的").removesuffix("个")
    return CHINESE_PRONOUNS.get(stem.strip(), "")


def _dropped_pronouns(source: str) -> Iterator[DroppedPronoun]:
    for mark in _MARK.finditer(source):
        if person := _person(mark["pronoun"]):
            role = PRONOUN_ROLES.get(mark["role"] or mark["open"] or "", "unsure")
            yield DroppedPronoun(mark.start(), mark.end(), mark["pronoun"], role, person)
