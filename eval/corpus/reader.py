"""Read a corpus from tables, parallel text files, or tables with further outputs in text files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.corpus.parallel_reader import DOCUMENT_MARK, DocumentBoundaries, ParallelPart, read_parallel, split_at_marks
from eval.corpus.raw_document import RawDocument, TextLines, numbered_lines
from eval.corpus.segmentation import split_by_guides
from eval.corpus.table_reader import read_jsonl_rows, read_tsv_rows
from eval.corpus.table_rows import CorpusRow, group_documents
from eval.corpus.translators import align_translators
from eval.corpus.validation import CorpusRules, build_corpus

_TABLES = {".jsonl": read_jsonl_rows, ".ndjson": read_jsonl_rows, ".tsv": read_tsv_rows}


def read_corpus(
    *tables: Path,
    systems: Mapping[str, Path] | None = None,
    references: Sequence[Path] = (),
    source: Path | None = None,
    documents: DocumentBoundaries = "auto",
    rules: CorpusRules | None = None,
    encoding: str | None = None,
) -> Corpus:
    """Read all tables (JSON lines, TSV), or parallel text files if there are no tables.

    With tables, `systems` and `references` are text files with one line for each segment. Raises InputError with the
    file and line of the first fault.
    """
    rules = rules or CorpusRules()
    if not tables:
        given = read_parallel(
            systems=systems or {}, references=references, source=source, documents=documents, encoding=encoding
        )
        names = [path.name for path in (systems or {}).values()]
        return build_corpus(given, rules, name=", ".join(names))
    if source:
        raise InputError("The table has the source: do not give it again as a file.", field="source")
    given = align_translators(
        [document for path in tables for document in _table(path, rules, len(tables) > 1, encoding)]
    )
    for path in references:
        given = add_reference(given, path, encoding=encoding)
    for name, path in (systems or {}).items():
        if any(name in one.outputs for one in given):
            raise InputError(f"There is a system {name!r} in the table already: choose another name.", field="system")
        added = _read_for_documents(path, given, encoding)
        given = [replace(one, outputs={**one.outputs, name: lines}) for one, lines in zip(given, added, strict=True)]
    return build_corpus(given, rules, name=", ".join(path.name for path in tables))


def add_reference(given: Sequence[RawDocument], path: Path, *, encoding: str | None = None) -> list[RawDocument]:
    """Add a reference from a text file with one line for each segment."""
    added = zip(given, _read_for_documents(path, given, encoding), strict=True)
    return [replace(one, references=(*one.references, lines)) for one, lines in added]


def _table(path: Path, rules: CorpusRules, many: bool, encoding: str | None) -> Iterator[RawDocument]:
    reader = _TABLES.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path.name} is not a table (.jsonl, .tsv). Give plain texts as source, reference and system files.",
            field="path",
        )
    rows = list(reader(path, encoding=encoding))
    if not rows:
        raise InputError(f"{path.name} is empty.", field="path")
    if reader is read_tsv_rows and rows[0].systems:
        rules.note(f"{path.name}: the columns taken for systems are {', '.join(rows[0].systems)}.")
    if names := sorted({name for row in rows for name in row.unsegmented}):
        rules.note(
            f"{path.name} has whole documents of {', '.join(names)}: they are split into segments by similarity to the "
            "other texts, with errors in some segments."
        )
    whole = {f"Line {row.number} of {path.name}": row for row in rows if row.unsegmented}
    for document in group_documents(rows, path.name):
        if document.location in whole:
            document = _with_whole(document, whole[document.location], rules)
        yield replace(document, id=f"{path.stem}/{document.id}") if many else document


def _with_whole(document: RawDocument, row: CorpusRow, rules: CorpusRules) -> RawDocument:
    """Add outputs of whole documents, split into segments by their similarity to texts that have segments."""
    guides = [[text or "" for text in lines.texts] for lines in (*document.references, *document.outputs.values())]
    if not guides:
        names = ", ".join(row.unsegmented)
        rules.note(f"{document.location}: {names} left out, as there is no reference to split them by.")
        return document
    numbers = (row.number,) * len(guides[0])
    file = document.location.partition(" of ")[2]
    outputs = {
        name: TextLines(file, tuple(split_by_guides(text, guides)), numbers, is_guessed=True)
        for name, text in row.unsegmented.items()
    }
    return replace(document, outputs={**document.outputs, **outputs})


def read_output_lines(
    path: Path, lengths: Sequence[int], *, whole: str, ids: Sequence[str] = (), encoding: str | None = None
) -> list[TextLines]:
    """The lines of a text, grouped into documents of these lengths, without marks and surplus blank lines.

    Marks in the file must agree with the documents; `ids` are the names that named marks must have.
    """
    every = numbered_lines(path, encoding=encoding)
    text = [line for line in every if not DOCUMENT_MARK.fullmatch(line[1])]
    marked = len(text) < len(every)
    if len(text) != sum(lengths):
        text = [(number, line) for number, line in text if line.strip()]
    if len(text) != sum(lengths):
        raise InputError(
            f"{path.name} has {len(text):,} lines of text, and {whole} has {sum(lengths):,} segments. Each segment "
            "needs one line.",
            field="system",
        )
    if marked:
        parts = list(split_at_marks(path.name, every))
        starts = [*(one.number for one in parts), len(every) + 1]
        sizes = [sum(start <= number < end for number, _ in text) for start, end in pairwise(starts)]
        _check_parts(parts, sizes, lengths, whole, ids)
    found, at = [], 0
    for length in lengths:
        numbers, lines = zip(*text[at : at + length], strict=True) if length else ((), ())
        found.append(TextLines(path.name, tuple(lines), tuple(numbers)))
        at += length
    return found


def _check_parts(
    parts: Sequence[ParallelPart], sizes: Sequence[int], lengths: Sequence[int], whole: str, ids: Sequence[str]
) -> None:
    """Check that marks are at the starts of documents and have their names."""
    for place, (one, number) in enumerate(zip(parts, sizes, strict=True)):
        if place >= len(lengths) or lengths[place] != number:
            there = f"there {lengths[place]:,} segments" if place < len(lengths) else "no further document"
            raise InputError(
                f"Line {one.number} of {one.lines.file} begins a document of {number:,} lines, and {whole} has "
                f"{there}. Put the marks where its documents begin, or leave them all out.",
                field="documents",
            )
        if ids and ids[place] and one.name and one.name != ids[place]:
            raise InputError(
                f"Line {one.number} of {one.lines.file} begins document {one.name!r}, and {whole} has "
                f"{ids[place]!r} there.",
                field="documents",
            )


def _read_for_documents(path: Path, given: Sequence[RawDocument], encoding: str | None) -> list[TextLines]:
    lengths = [len(next(iter(one.texts_by_label().values()))) for one in given]
    ids = [one.given_id for one in given]
    return read_output_lines(path, lengths, whole="the table", ids=ids, encoding=encoding)
