"""Split the text of a whole document into segments by similarity to texts in the same language that have segments.

Guides are references or outputs of other systems. The text is cut at sentence ends, and at clause ends where needed;
each piece goes to one line, in reading order. The evidence for a line is how much better its words explain the piece
than the words of all lines do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import regex

from ape.text import sentences
from eval.statistics.counts import FloatArray

_WORD = regex.compile(r"\p{Han}|\p{Hiragana}+|\p{Katakana}+|[\p{L}\p{N}]+")
_CLAUSE = regex.compile(r"[^,;:—、，；：]+(?:[,;:—、，；：]+[”\"’]?\s*|$)|[,;:—、，；：]+\s*")
_OPENING = regex.compile(r"(?<=^|\s)[\"'](?=\p{L})")
_STEM = 5  # letters: enough to match most inflections and names
_TRUST = 0.6  # assumed share of a piece's words that its line explains

# In nats; an explained word is worth two to five. Tuned on line-aligned outputs that were joined and split again.
_CUT = 8.0
_EMPTY = 6.0


def split_by_guides(text: str, guides: Sequence[Sequence[str]]) -> list[str]:
    """One text for each line of the guides; empty where the text has nothing for the line."""
    pieces, inside = _pieces(text)
    lines = [" ".join(given) for given in zip(*guides, strict=True)]
    if not pieces or not lines:
        return ["" for _ in lines]
    segments = [""] * len(lines)
    for piece, line in zip(pieces, _places(_similarity(pieces, lines), inside), strict=True):
        segments[line] += piece
    return [" ".join(one.split()) for one in segments]


def _pieces(text: str) -> tuple[list[str], list[bool]]:
    """The clauses, each with whether it continues the sentence of the previous one."""
    pieces: list[str] = []
    inside: list[bool] = []
    done = 0
    # A straight quote before a letter opens speech and does not end the previous sentence.
    for sentence in sentences.split_sentences(_OPENING.sub("“", text)):
        cuts = [match.end() for match in _CLAUSE.finditer(sentence)]
        pieces += [text[done + start : done + end] for start, end in pairwise([0, *cuts])]
        inside += [place > 0 for place in range(len(cuts))]
        done += len(sentence)
    return pieces, inside


def _words(text: str) -> list[str]:
    return [word[:_STEM] for word in _WORD.findall(text.lower())]


def _similarity(pieces: Sequence[str], lines: Sequence[str]) -> FloatArray:
    """(pieces, lines): log-likelihood ratio of a line to all lines as the explanation of a piece."""
    counted = [Counter(_words(line)) for line in lines]
    whole = Counter(word for counts in counted for word in counts.elements())
    known = {word: column for column, word in enumerate(whole)}
    chances = np.zeros((len(known), len(lines)))
    for place, counts in enumerate(counted):
        for word, count in counts.items():
            chances[known[word], place] = count / counts.total()
    overall = np.array(list(whole.values())) / max(whole.total(), 1)
    worth = np.log((1 - _TRUST) + _TRUST * chances / overall[:, None])
    found = np.zeros((len(pieces), len(lines)))
    for place, piece in enumerate(pieces):
        rows = [known[word] for word in _words(piece) if word in known]
        found[place] = worth[rows].sum(axis=0)
    return found


def _places(similarity: FloatArray, inside: Sequence[bool]) -> list[int]:
    """The line of each piece on the best path: monotone, with few empty lines and few split sentences."""
    pieces, lines = similarity.shape
    steps = np.arange(lines) * _EMPTY
    came = np.zeros((pieces, lines), np.intp)
    best = similarity[0] - steps
    for piece in range(1, pieces):
        reached = best + steps
        top = np.maximum.accumulate(reached)
        # The line where the maximum was reached: the last that equals it.
        at = np.maximum.accumulate(np.where(reached == top, np.arange(lines), 0))
        moved = np.full(lines, -np.inf)
        moved[1:] = top[:-1] - steps[:-1] - (_CUT if inside[piece] else 0.0)
        moves = moved > best
        came[piece] = np.where(moves, np.concatenate([[0], at[:-1]]), np.arange(lines))
        best = np.where(moves, moved, best) + similarity[piece]
    line = int(np.argmax(best + steps))
    path = [line]
    for piece in range(pieces - 1, 0, -1):
        line = int(came[piece, line])
        path.append(line)
    return path[::-1]
