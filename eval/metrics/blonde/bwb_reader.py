"""Annotation for BlonDe+ from BWB files: wordings from the error lines, names from the name lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from ape.errors import InputError
from eval.corpus.annotation_issue import AnnotationIssue
from eval.corpus.corpus import Corpus
from eval.corpus.raw_document import NoteCallback, ignore_note, numbered_lines
from eval.linguistics.bwb import names as bwb_names
from eval.linguistics.bwb.error_lines import BwbErrorLine, parse_errors
from eval.metrics.blonde.human_annotation import AnnotatedName, AnnotatedNames, AnnotatedWordings

_Line = TypeVar("_Line")


def collect_wordings(errors: Mapping[str, Sequence[BwbErrorLine]], kind: str) -> AnnotatedWordings:
    """The correct wordings of all errors of a kind (ambiguity or ellipsis), from the error lines by document."""
    found = {
        (document, segment): tuple(error.correction for error in line.errors if error.kind == kind and error.correction)
        for document, lines in errors.items()
        for segment, line in enumerate(lines)
    }
    return {place: wordings for place, wordings in found.items() if wordings}


def read_error_lines(
    path: Path, corpus: Corpus, *, note: NoteCallback = ignore_note
) -> dict[str, Sequence[BwbErrorLine]]:
    """Read the error lines of a corpus by document, one line for each segment. Issues are noted."""
    return _by_document(path, corpus, parse_errors, note)


def read_names(path: Path, corpus: Corpus, *, note: NoteCallback = ignore_note) -> AnnotatedNames:
    """Read the names in a corpus's references, one line for each segment. Issues are noted."""
    lines = _by_document(path, corpus, bwb_names.parse_names, note)
    return {
        (document, segment): (
            *(AnnotatedName(name) for name in line.persons),
            *(AnnotatedName(name, person=False) for name in line.others),
        )
        for document, found in lines.items()
        for segment, line in enumerate(found)
    }


def _by_document(
    path: Path,
    corpus: Corpus,
    parse: Callable[[Sequence[str]], tuple[tuple[_Line, ...], tuple[AnnotationIssue, ...]]],
    note: NoteCallback,
) -> dict[str, Sequence[_Line]]:
    given = [text for _, text in numbered_lines(path)]
    if len(given) != len(corpus):
        raise InputError(
            f"{path.name} has {len(given):,} lines, and there are {len(corpus):,} segments. Annotation needs exactly "
            "one line for each segment.",
            field="annotation",
        )
    lines, issues = parse(given)
    for issue in issues:
        note(f"{path.name}, {issue}")
    found: dict[str, Sequence[_Line]] = {}
    at = 0
    for document in corpus.documents:
        found[document.id] = lines[at : at + len(document)]
        at += len(document)
    return found
