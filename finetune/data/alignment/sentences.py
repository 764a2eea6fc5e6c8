"""Split paragraphs into sentences for alignment, more finely than `ape.text.sentences`.

PAR3's come from a parser, which also parts what is said from who says it ("Alas! | said the old woman") and one
speaker from the next. What matters here is that no sentence holds parts of two paragraphs: it is better to cut once too
often, for pieces of a sentence find their way to the same place.
"""

from __future__ import annotations

import re

from ape.text.sentences import CLOSERS, split_sentences

_CLOSER = re.escape(CLOSERS)
_EXTRA_BREAK = re.compile(rf"[!?…][{_CLOSER}]*\s+|\.[{_CLOSER}]*\s+(?=[\"'“‘«—–-])")


def split_alignment_sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph in order, with single spaces in them; what has no letter joins the one before."""
    found: list[str] = []
    for piece in _pieces(paragraph):
        text = " ".join(piece.split())
        if found and not any(map(str.isalnum, text)):
            found[-1] = f"{found[-1]} {text}".rstrip()
        elif text:
            found.append(text)
    return found


def _pieces(paragraph: str) -> list[str]:
    pieces = []
    for sentence in split_sentences(paragraph):
        start = 0
        for match in _EXTRA_BREAK.finditer(sentence):
            pieces.append(sentence[start : match.end()])
            start = match.end()
        pieces.append(sentence[start:])
    return pieces
