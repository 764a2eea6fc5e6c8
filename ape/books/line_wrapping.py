"""Hard-wrapped lines: measure their width, join them to one text, and wrap a text again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import inf

# Characters of two columns. Chinese and Japanese are also written without spaces between words.
_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
    "\U0001f300-\U0001f64f\U0001f900-\U0001f9ff\U00020000-\U0003fffd]"
)
_UNSPACED = "\u2e80-\u303e\u3041-\u312f\u31a0-\ua4cf\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\U00020000-\U0003fffd"
# No line begins with a closer or ends with an opener.
_CLOSERS = "、。，．！？；：」』）】〉》〕…—ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ”’"
_OPENERS = "「『（【〈《〔“‘"
_UNIT = re.compile(rf"[{_OPENERS}]*[{_UNSPACED}][{_CLOSERS}]*|[^\s{_UNSPACED}]+[{_CLOSERS}]*|\s+")
_FIRST_WORD = re.compile(r"\S+")
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_UNSPACED_END = re.compile(f"[{_UNSPACED}]$")
_DASH_END = re.compile(r"\S[-‐–—]$")


def display_width(text: str) -> int:
    """The width of a line in columns, with wide characters counted as two."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))


def line_joiner(line: str, following: str) -> str:
    """What joins two wrapped lines: a space, or nothing after a dash or between 汉字."""
    end = line[-3:]
    if _DASH_END.search(end) or _UNSPACED_END.search(end) or _UNSPACED_START.match(following):
        return ""
    return " "


def unwrap_lines(lines: Sequence[str]) -> str:
    """Join wrapped lines to one text."""
    parts: list[str] = []
    for line in filter(None, map(str.strip, lines)):
        if parts:
            parts.append(line_joiner(parts[-1], line))
        parts.append(line)
    return "".join(parts)


def needed_width(line: str, following: str) -> int:
    """The width of a line with the first word of the next; it exceeds the margin where the line was wrapped."""
    if _UNSPACED_START.match(following):
        return display_width(line) + 2
    word = _FIRST_WORD.match(following)
    return display_width(line) + len(line_joiner(line, following)) + (display_width(word.group()) if word else 0)


def wrap_text(text: str, columns: int, *, first: int = 0, other: int = 0) -> Iterator[str]:
    """Wrap a text to `columns`; `first` and `other` are the widths of the prefixes of the first and other lines."""
    line, width, room = list[str](), 0, columns - first
    for gap, unit in _units(text):
        more = display_width(gap) + display_width(unit)
        if line and width + more > room:
            yield "".join(line)
            line, width, room = [unit], display_width(unit), columns - other
        else:
            line += (gap, unit)
            width += more
    yield "".join(line)


def _units(text: str) -> list[tuple[str, str]]:
    """Unbreakable units, each with the space before it. Lines break only where joining them restores the text."""
    units: list[tuple[str, list[str]]] = []
    gap = end = ""
    for unit in _UNIT.findall(text.strip()):
        if unit.isspace():
            gap = unit
            continue
        plain = " " if gap and not gap.strip(" ") else gap
        if units and line_joiner(end, unit) != plain:
            units[-1][1].extend((gap, unit))
            end = (end + gap + unit[-3:])[-3:]
        else:
            units.append((gap, [unit]))
            end = unit[-3:]
        gap = ""
    return [(before, "".join(parts)) for before, parts in units]


def wrap_text_with_short_last_line(
    text: str, columns: int, *, full: float, longest: float, first: int = 0, other: int = 0
) -> list[str]:
    """Wrap a text so that its last line is at most `longest` columns wide, if possible, and all others are full.

    A line is full where it would exceed `full` columns with the next word. Lines exceed `columns` only where it can't
    be avoided.
    """
    units = _units(text)
    # For each possible line start: the badness of the best lines before it, and the start of the last of them.
    best: dict[int, tuple[float, int]] = {0: (0.0, 0)}
    for start in range(len(units)):
        taken = other if start else first
        for end, line in _lines_from(units, start, columns - taken) if start in best else ():
            wide = taken + display_width(line)
            if end < len(units) and taken + needed_width(line, _text(units[end : end + _FOLLOWING])) <= full:
                continue
            badness = best[start][0] + (_TOO_LONG * (wide > longest) if end == len(units) else (columns - wide) ** 2)
            badness += _TOO_WIDE * (wide > columns)
            if badness < best.get(end, (inf, 0))[0]:
                best[end] = badness, start
    return _trace_back(units, best)


# Penalties above any badness of uneven lines.
_TOO_WIDE = 1e7
_TOO_LONG = 1e6
# In text without spaces a word has several units; these many are enough to measure it.
_FOLLOWING = 4


def _lines_from(units: Sequence[tuple[str, str]], start: int, room: int) -> Iterator[tuple[int, str]]:
    """All lines that may begin at `start`, with the start of the next line; the last of them is too wide."""
    line = units[start][1]
    yield start + 1, line
    for end in range(start + 1, len(units)):
        if display_width(line) > room:
            return
        line += "".join(units[end])
        yield end + 1, line


def _trace_back(units: Sequence[tuple[str, str]], best: Mapping[int, tuple[float, int]]) -> list[str]:
    lines: list[str] = []
    end = len(units)
    while end:
        start = best[end][1]
        lines.append(_text(units[start:end]))
        end = start
    return lines[::-1]


def _text(units: Sequence[tuple[str, str]]) -> str:
    return "".join(gap + unit for gap, unit in units).strip()
