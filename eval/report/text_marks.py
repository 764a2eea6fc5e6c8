"""Texts split at the words that a metric marked; the joined pieces give the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ape.edits.diff import find_edits
from ape.reports.text_pieces import split_at_spans
from eval.corpus.corpus import Corpus
from eval.metrics.metric import Mark, Metric

SegmentMarks = Mapping[tuple[str, int, str], Sequence[Mark]]
"""By document, segment and side."""


@dataclass(frozen=True, slots=True)
class ReportPiece:
    """A piece of a text, with the reason if it is marked."""

    text: str
    kind: str = ""
    note: str = ""


def split_at_marks(text: str, marks: Iterable[Mark]) -> Iterator[ReportPiece]:
    """Split a text at its marks; empty, overlapping and out-of-range marks are ignored."""
    spans = ((mark.start, mark.end, mark) for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)))
    for piece, mark in split_at_spans(text, spans):
        yield ReportPiece(piece, mark.kind, mark.note) if mark else ReportPiece(piece)


def metric_marks(metric: Metric, corpus: Corpus, system: str) -> SegmentMarks | None:
    """The marks of a metric; None if it makes none."""
    marking = getattr(metric, "marks", None)
    if marking is None:
        return None
    found: dict[tuple[str, int, str], list[Mark]] = {}
    for mark in marking(corpus, system):
        found.setdefault((mark.document, mark.segment, mark.side), []).append(mark)
    return found


def difference_marks(output: str, reference: str, language: str) -> tuple[list[Mark], list[Mark]]:
    """Marks of output and reference where their words differ, for metrics without marks."""
    ours, theirs = [], []
    for edit in find_edits(output, reference, language=language):
        note = f"{edit.before or '∅'} → {edit.after or '∅'}"
        ours.append(Mark("", 0, "output", *edit.mt_span, "differs", note))
        theirs.append(Mark("", 0, "reference", *edit.span, "differs", note))
    return ours, theirs
