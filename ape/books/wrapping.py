"""Hard-wrapped lines: how wide they are, what they say as one text, and a text cut into such lines again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# Characters that take two columns. Those of Chinese and Japanese are also written without spaces between words.
_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
    "\U0001f300-\U0001f64f\U0001f900-\U0001f9ff\U00020000-\U0003fffd]"
)
_UNSPACED = (
    "\u2e80-\u303e\u3041-\u312f\u31a0-\ua4cf\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\U00020000-\U0003fffd"
)
# No line begins with the former and none ends with the latter.
_CLOSERS = "、。，．！？；：」』）】〉》〕…—ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ”’"
_OPENERS = "「『（【〈《〔“‘"
_UNIT = re.compile(
    rf"[{_OPENERS}]*[{_UNSPACED}][{_CLOSERS}]*|[^\s{_UNSPACED}]+[{_CLOSERS}]*|\s+",
)
_FIRST_WORD = re.compile(r"\S+")
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_UNSPACED_END = re.compile(f"[{_UNSPACED}]$")
_DASH_END = re.compile(r"\S[-‐–—]$")


def width(text: str) -> int:
    """The columns a line takes where every letter takes one or two."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))


def joint(line: str, following: str) -> str:
    """What stands between two wrapped lines once they are one: a space, or nothing after a dash or between 汉字."""
    if _DASH_END.search(line) or _UNSPACED_END.search(line) or _UNSPACED_START.match(following):
        return ""
    return " "


def unwrapped(lines: Sequence[str]) -> str:
    """Wrapped lines as one text."""
    parts: list[str] = []
    for line in filter(None, map(str.strip, lines)):
        if parts:
            parts.append(joint(parts[-1], line))
        parts.append(line)
    return "".join(parts)


def needed(line: str, following: str) -> int:
    """How wide a line would be with the first word of the next one: wider than allowed, where it was wrapped."""
    if _UNSPACED_START.match(following):
        return width(line) + 2
    word = _FIRST_WORD.match(following)
    return width(line) + len(joint(line, following)) + (width(word.group()) if word else 0)


def wrapped(text: str, columns: int, *, first: int = 0, other: int = 0) -> Iterator[str]:
    """The text in lines of at most so many columns; `first` and `other` columns are taken by what stands before."""
    line, gap, room = "", "", columns - first
    for unit in _UNIT.findall(text.strip()):
        if unit.isspace():
            gap = unit if line else ""
        elif line and width(line) + width(gap) + width(unit) > room:
            yield line
            line, gap, room = unit, "", columns - other
        else:
            line, gap = line + gap + unit, ""
    yield line
