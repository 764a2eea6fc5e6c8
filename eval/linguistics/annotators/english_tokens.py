"""Offsets of English tokens, cut as in the Penn Treebank: did|n't, Anna|'s, Mr., half-open, "|."""

from __future__ import annotations

import re

_LETTER = r"[^\W\d_]"
_TOKEN = re.compile(
    rf"""
      (?:Mr|Mrs|Ms|Dr|St|Prof|Rev|Gen|Col|Capt|Lt|Sgt|Sen|Gov|Jr|Sr|Mt|vs|etc)\.
    | (?:{_LETTER}\.){{2,}}                        # U.S. · e.g. · a.m.
    | (?<!\w)[A-HJ-Z]\.(?=\s+[A-Z])                # J. Smith
    | \d+(?:[.,:]\d+)+
    | [^\W_]+(?:(?:['’](?=\w)|-)[^\W_]+)*
    | (?<!\w)['’](?:s|re|ve|ll|d|m)\b              # separate in tokenised texts
    | \.{{2,}} | …+ | -{{2,}}
    | \S
    """,
    re.VERBOSE,
)
_CLITIC = re.compile(r"(?<=\w)(?:n['’]t|['’](?:s|re|ve|ll|d|m))$", re.IGNORECASE)


def token_spans(text: str) -> list[tuple[int, int]]:
    """The start and end of each token."""
    found: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        cut = _cut(match.group())
        if cut:
            found.append((start, start + cut))
            start += cut
        found.append((start, end))
    return found


def _cut(word: str) -> int:
    """The length of a word's first token; 0 if the word is one token."""
    if "'" in word or "’" in word:
        clitic = _CLITIC.search(word)
        return clitic.start() if clitic else 0
    return 3 if word in ("cannot", "Cannot") else 0
