"""Reader for parallel text files; documents are separated by marks, blank lines or a file of ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal, TypeAlias

from ape.errors import InputError
from eval.corpus.raw_document import RawDocument, TextLines, numbered_lines

DocumentBoundaries: TypeAlias = Literal["auto", "marks", "blank", "none"] | Path
"""How documents are separated; a path is a file with one document id for each line."""

DOCUMENT_MARK = re.compile(
    r"""\s*(?:\[doc(?:ument)?\b[\s:=]*(?P<bracket>[^\]]*)\]      # [doc], [doc 3]
          |</?doc(?:ument)?\b(?P<tag>[^>]*)>                     # <doc docid="x" genre="y">, </doc>
          |\#\s*newdoc\b(?:\s+id\s*=)?(?P<hash>.*))\s*""",  # newdoc id = x, as in CoNLL-U
    re.VERBOSE | re.IGNORECASE,
)
_ID = re.compile(r"""(?:doc)?id\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ParallelPart:
    """One document in one file: its name (empty if the mark has none) and its first line."""

    name: str
    number: int
    lines: TextLines


def read_parallel(
    *,
    systems: Mapping[str, Path],
    references: Sequence[Path] = (),
    source: Path | None = None,
    documents: DocumentBoundaries = "auto",
    encoding: str | None = None,
) -> list[RawDocument]:
    """Read the documents of all files."""
    paths = [*([source] if source else []), *references, *systems.values()]
    if not paths:
        raise InputError("There are no files: give system outputs and references.", field="system")
    texts = [numbered_lines(path, encoding=encoding) for path in paths]
    parts_by_file = _split_documents([path.name for path in paths], texts, documents)
    first = 1 if source else 0
    given = []
    for number, parts in enumerate(zip(*parts_by_file, strict=True), 1):
        lines = [part.lines for part in parts]
        outputs = dict(zip(systems, lines[first + len(references) :], strict=True))
        humans = tuple(lines[first : first + len(references)])
        place = f"Line {parts[0].number} of {parts[0].lines.file}"
        given.append(RawDocument(_name(parts) or str(number), place, outputs, humans, lines[0] if source else None))
    return given


def _name(parts: Sequence[ParallelPart]) -> str:
    named = [part for part in parts if part.name]
    for part in named[1:]:
        if part.name != named[0].name:
            raise InputError(
                f"Line {part.number} of {part.lines.file} begins document {part.name!r}, and line {named[0].number} of "
                f"{named[0].lines.file} begins {named[0].name!r} instead.",
                field="document",
            )
    return named[0].name if named else ""


NumberedLines: TypeAlias = Sequence[tuple[int, str]]


def _split_documents(
    files: Sequence[str], texts: Sequence[NumberedLines], documents: DocumentBoundaries
) -> list[list[ParallelPart]]:
    if isinstance(documents, Path):
        parts = [_split_by_ids(file, text, documents) for file, text in zip(files, texts, strict=True)]
    else:
        how = _detect_boundaries(files, texts) if documents == "auto" else documents
        parts = [list(_SPLITTERS[how](file, text)) for file, text in zip(files, texts, strict=True)]
    _check_marks(files, parts)
    return parts


def _detect_boundaries(files: Sequence[str], texts: Sequence[NumberedLines]) -> Literal["marks", "blank", "none"]:
    """Marks if any file has one, else blank lines if all files agree on them, else a single document."""
    if any(DOCUMENT_MARK.fullmatch(line) for text in texts for _, line in text):
        return "marks"
    blank = [{number for number, line in text if not line.strip()} for text in texts]
    shortest = min(map(len, texts))
    for number in sorted(set().union(*blank)):
        is_blank = [number in lines for lines in blank]
        if not all(is_blank) and number <= shortest:
            raise InputError(
                f"Line {number} of {files[is_blank.index(True)]} is blank, and line {number} of "
                f"{files[is_blank.index(False)]} is not: a document ends on one side only, or a text is missing. If "
                "blank lines are missing texts, read the files as one document and allow empty texts.",
                field="documents",
            )
    return "blank" if any(blank) else "none"


def split_at_marks(file: str, text: NumberedLines) -> Iterator[ParallelPart]:
    """The documents of a file, each from its mark to the next, including those without text."""
    name, begun, opened = "", 1, False
    body: list[tuple[int, str]] = []
    for number, line in text:
        match = DOCUMENT_MARK.fullmatch(line)
        if match is None:
            opened = opened or bool(line.strip())
            body.append((number, line))
            continue
        if opened:
            yield _part(name, begun, file, body)
        # After `</doc>` the next document has not begun yet.
        name, begun, opened, body = _mark_name(match), number, not line.strip().startswith("</"), []
    # A bare mark at the end of a file ends the last document, as in mzprt; one with a name starts a document.
    if any(line.strip() for _, line in body) or name:
        yield _part(name, begun, file, body)


def _mark_name(match: re.Match[str]) -> str:
    if match["tag"] is not None:
        found = _ID.search(match["tag"])
        return found[1] if found else ""
    return (match["bracket"] or match["hash"] or "").strip()


def _split_at_blank_lines(file: str, text: NumberedLines) -> Iterator[ParallelPart]:
    for blank, run in groupby(text, key=lambda line: not line[1].strip()):
        if not blank:
            body = list(run)
            yield _part("", body[0][0], file, body)


def _single_document(file: str, text: NumberedLines) -> Iterator[ParallelPart]:
    yield _part("", 1, file, text, strip=False)


_SPLITTERS = {"marks": split_at_marks, "blank": _split_at_blank_lines, "none": _single_document}


def _part(name: str, number: int, file: str, body: NumberedLines, *, strip: bool = True) -> ParallelPart:
    """Build a part; blank lines next to a mark belong to the mark."""
    body = list(body)
    while strip and body and not body[-1][1].strip():
        body.pop()
    while strip and body and not body[0][1].strip():
        body.pop(0)
    return ParallelPart(name, number, TextLines(file, tuple(line for _, line in body), tuple(at for at, _ in body)))


def _split_by_ids(file: str, text: NumberedLines, path: Path) -> list[ParallelPart]:
    ids = [line.strip() for _, line in numbered_lines(path)]
    if len(ids) != len(text):
        raise InputError(
            f"{path.name} has {len(ids):,} lines and {file} has {len(text):,}: it needs the id of a document for "
            "each line.",
            field="documents",
        )
    ended: set[str] = set()
    parts = []
    for name, run in groupby(zip(ids, text, strict=True), key=lambda pair: pair[0]):
        body = [line for _, line in run]
        if not name or name in ended:
            why = f"returns to document {name!r}, which has already ended" if name else "names no document"
            raise InputError(f"Line {body[0][0]} of {path.name} {why}.", field="documents")
        ended.add(name)
        parts.append(_part(name, body[0][0], file, body, strip=False))
    return parts


def _check_marks(files: Sequence[str], parts: Sequence[Sequence[ParallelPart]]) -> None:
    """Check that every file has the same documents with the same numbers of lines as the first."""
    if textless := [file for file, file_parts in zip(files, parts, strict=True) if not any(map(_has_text, file_parts))]:
        raise InputError(f"{textless[0]} has no text.", field="path")
    for file, file_parts in zip(files[1:], parts[1:], strict=True):
        for one, other in _differing_parts(parts[0], file_parts):
            if len(parts[0]) == len(file_parts):
                raise InputError(_length_error(one, other), field="documents")
            raise InputError(
                f"{files[0]} has {len(parts[0]):,} documents and {file} has {len(file_parts):,}: a document mark is on "
                f"one side only, after line {one.number} of {files[0]} or line {other.number} of {file}.",
                field="documents",
            )


def _length_error(one: ParallelPart, other: ParallelPart) -> str:
    return (
        f"In the document that begins at line {one.number} of {one.lines.file} and line {other.number} of "
        f"{other.lines.file}, there are {len(one.lines):,} lines in the first and {len(other.lines):,} in the second. "
        "Each line needs its counterpart."
    )


def _has_text(part: ParallelPart) -> bool:
    return any(text and text.strip() for text in part.lines.texts)


def _differing_parts(
    ours: Sequence[ParallelPart], theirs: Sequence[ParallelPart]
) -> Iterable[tuple[ParallelPart, ParallelPart]]:
    """The first documents whose numbers of lines differ, or the last one if a file has more documents."""
    shared = min(len(ours), len(theirs))
    for one, other in zip(ours[:shared], theirs[:shared], strict=True):
        if len(one.lines) != len(other.lines):
            return [(one, other)]
    return [(ours[-1], theirs[-1])] if len(ours) != len(theirs) else []
