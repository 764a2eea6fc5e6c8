"""Assign each sentence of a human translation to a source paragraph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from finetune.data.alignment.needleman_wunsch import PathCell

# Paragraph of sentences outside the path, such as a preface or endnotes.
UNALIGNED = -1


def assign_by_path(
    way: Sequence[PathCell], likeness: Iterable[float], paragraphs: Sequence[int], sentences: int
) -> list[int]:
    """The paragraph of each human sentence, in order; `paragraphs` has that of each MT sentence.

    A sentence that was merged across a paragraph's end goes where it is most alike (PAR3 repeats it in both), so that
    nothing is learnt twice. `likeness` is that of each cell of the way.
    """
    places = [UNALIGNED] * sentences
    cells = zip(way, likeness, strict=True)
    for human, met in groupby(cells, key=lambda cell: cell[0][1]):
        (mt, _), _ = max(met, key=itemgetter(1))
        places[human] = paragraphs[mt]
    return places
