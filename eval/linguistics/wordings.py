"""Search for a wording as whole words; its first letter may have either case."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import regex

_SPACED = r"\p{Latin}\p{Cyrillic}\p{Greek}\p{N}"


def find_wording_spans(wording: str, text: str) -> list[tuple[int, int]]:
    """Spans without overlaps; in Chinese, which has no spaces, at any position."""
    return [match.span() for match in _pattern(" ".join(wording.split())).finditer(text)] if wording.strip() else []


@lru_cache(maxsize=4096)
def _pattern(wording: str) -> regex.Pattern[str]:
    first = {wording[0].lower(), wording[0].upper()}
    begin = "|".join(sorted(map(regex.escape, first)))
    rest = r"\s+".join(map(regex.escape, wording[1:].split(" ")))
    before = rf"(?<![{_SPACED}])" if regex.match(rf"[{_SPACED}]", wording) else ""
    after = rf"(?![{_SPACED}])" if regex.match(rf"[{_SPACED}]", wording[-1]) else ""
    return regex.compile(f"{before}(?:{begin}){rest}{after}")


def outermost_spans(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans that are not inside another."""
    outermost: list[tuple[int, int]] = []
    for start, end in sorted(set(places), key=lambda place: (place[0], -place[1])):
        if not outermost or end > outermost[-1][1]:
            outermost.append((start, end))
    return outermost
