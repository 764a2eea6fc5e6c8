"""Divide a source text at sentence ends among the MT paragraphs that it became."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ape.books.book import Paragraph
from ape.books.pairing.aligner import align
from ape.books.pairing.pair_scores import PairModel, PairScores
from ape.books.pairing.profile import BookProfile, profile_paragraphs
from ape.text import sentences
from ape.text.inline_marks import strip_marks

# A text with fewer sentences than parts is split here.
_CLAUSE = re.compile(r"(?<=[;:,]\s)|(?<=[—–，；：、])")
# The most pieces of a very long text: neighbours are joined.
_MOST_PIECES = 60
_NEVER = 1e-12


def divide_source(source: str, parts: Sequence[str], model: PairModel) -> list[tuple[str, float]]:
    """The part of the source for each MT paragraph with its confidence, or [] where it can't be divided."""
    pieces = _pieces(source, len(parts))
    if len(pieces) < len(parts) or not all(strip_marks(part).strip() for part in parts):
        return []
    longest = len(pieces) - len(parts) + 1
    beads = {(run, 1): 1 / longest for run in range(1, longest + 1)} | {(1, 0): _NEVER, (0, 1): _NEVER}
    scorer = PairScores(_profile(pieces), _profile(parts), replace(model, beads=beads))
    chain = align(scorer)
    if [bead.mt_end - bead.mt for bead in chain] != [1] * len(parts) or not all(bead.paired for bead in chain):
        return []
    return [("".join(pieces[bead.source : bead.source_end]).strip(), bead.confidence) for bead in chain]


def _profile(texts: Sequence[str]) -> BookProfile:
    return profile_paragraphs(Paragraph(str(place), 0, "", text) for place, text in enumerate(texts))


def _pieces(source: str, count: int) -> list[str]:
    pieces = _join_blank(sentences.split_sentences(source))
    if len(pieces) < count:
        pieces = _join_blank([clause for piece in pieces for clause in _CLAUSE.split(piece)])
    while len(pieces) > _MOST_PIECES:
        pieces = ["".join(pieces[place : place + 2]) for place in range(0, len(pieces), 2)]
    return pieces


def _join_blank(pieces: Sequence[str]) -> list[str]:
    """Join blank pieces to their neighbours."""
    filled: list[str] = []
    for piece in pieces:
        if filled and not (strip_marks(piece).strip() and strip_marks(filled[-1]).strip()):
            filled[-1] += piece
        else:
            filled.append(piece)
    return filled
