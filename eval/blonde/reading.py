"""The annotation that BlonDe+ needs, from BWB's files: wordings from the error lines, names from the lines of names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from ape.errors import InputError
from eval.blonde.annotated import Name, Names, Wordings
from eval.bwb import names as bwb_names
from eval.bwb.errors import ErrorLine, parse_errors
from eval.bwb.slips import Slip
from eval.corpus import Corpus
from eval.reading.given import Note, numbered_lines, quiet

_Line = TypeVar("_Line")


def wordings(errors: Mapping[str, Sequence[ErrorLine]], kind: str) -> Wordings:
    """What should be there for all errors of a kind, ambiguity or ellipsis, in the error lines by document."""
    found = {
        (document, segment): tuple(
            error.wanted for error in line.errors if error.kind == kind and error.wanted
        )
        for document, lines in errors.items()
        for segment, line in enumerate(lines)
    }
    return {place: wanted for place, wanted in found.items() if wanted}


def read_error_lines(path: Path, corpus: Corpus, *, note: Note = quiet) -> dict[str, Sequence[ErrorLine]]:
    """The error lines of a corpus by document: a file with a line for each segment. Slips in it are noted."""
    return _by_document(path, corpus, parse_errors, note)


def read_names(path: Path, corpus: Corpus, *, note: Note = quiet) -> Names:
    """The names of a corpus's references: a file with a line for each segment. Slips in it are noted."""
    lines = _by_document(path, corpus, bwb_names.parse_names, note)
    return {
        (document, segment): (
            *(Name(name) for name in line.persons),
            *(Name(name, person=False) for name in line.others),
        )
        for document, found in lines.items()
        for segment, line in enumerate(found)
    }


def _by_document(
    path: Path,
    corpus: Corpus,
    parse: Callable[[Sequence[str]], tuple[tuple[_Line, ...], tuple[Slip, ...]]],
    note: Note,
) -> dict[str, Sequence[_Line]]:
    given = [text for _, text in numbered_lines(path)]
    if len(given) != len(corpus):
        raise InputError(
            f"{path.name} has {len(given):,} lines, and there are {len(corpus):,} segments. Annotation needs a line "
            "for each segment, and none for anything else.",
            field="annotation",
        )
    lines, slips = parse(given)
    for slip in slips:
        note(f"{path.name}, {slip}")
    found: dict[str, Sequence[_Line]] = {}
    at = 0
    for document in corpus.documents:
        found[document.id] = lines[at : at + len(document)]
        at += len(document)
    return found
