"""Alignment error rate against human links (Och and Ney 2003).

AER = 1 - (|A∩S| + |A∩P|) / (|A| + |S|), where the sure links S are a subset of the possible links P.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ape.errors import InputError
from ape.text.word_alignment.protocol import Bitext, WordLinks

_LINK = re.compile(r"(\d+)([-p])(\d+)")


@dataclass(frozen=True, slots=True)
class GoldLinks:
    """The human links of one sentence pair."""

    sure: WordLinks
    possible: WordLinks
    """Includes the sure links."""


def alignment_error_rate(found: Sequence[WordLinks], gold: Sequence[GoldLinks]) -> float:
    """The error rate; 0 is perfect."""
    if len(found) != len(gold):
        raise InputError(f"There are links for {len(found)} sentences, and gold links for {len(gold)}.")
    pairs = list(zip(found, gold, strict=True))
    hits = sum(len(links & one.sure) + len(links & one.possible) for links, one in pairs)
    total = sum(len(links) + len(one.sure) for links, one in pairs)
    if not total:
        raise InputError("There are no links of the aligner or in the gold file: the error rate is undefined.")
    return 1 - hits / total


def read_links(path: Path, *, first: int = 0) -> list[GoldLinks]:
    """Read lines of "1-1 2p3" (sure and possible); `first` is the number of the first word, 1 in gold files."""
    return [_line(line, first, f"{path}, line {number}") for number, line in enumerate(_lines(path), 1)]


def read_bitext(path: Path) -> Bitext:
    """Read lines of "source words ||| target words"."""
    pairs = []
    for number, line in enumerate(_lines(path), 1):
        sides = line.split(" ||| ")
        if len(sides) != 2:
            raise InputError(f"{path}, line {number}: not two texts with ' ||| ' between them.")
        pairs.append((sides[0].split(), sides[1].split()))
    return pairs


def _lines(path: Path) -> Iterable[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def _line(line: str, first: int, where: str) -> GoldLinks:
    sure, possible = set(), set()
    for word in line.split():
        match = _LINK.fullmatch(word)
        link = (int(match[1]) - first, int(match[3]) - first) if match else (-1, -1)
        if match is None or min(link) < 0:
            raise InputError(f"{where}: {word!r} is not a link such as {first}-{first + 1} or {first}p{first + 1}.")
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))
