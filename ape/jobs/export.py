"""Export a job's paragraphs: all fields as JSON Lines, pairs as TSV, TMX or XLIFF, or the text alone.

Rows are streamed, so memory does not grow with the book. In XML, marks become inline codes; in plain text they are
dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from ape.books.formats import FORMATS, ExportFormat
from ape.books.markup.text_bytes import escape_text
from ape.errors import InputError
from ape.jobs.job import Job
from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.passage.result import Decision
from ape.text.inline_marks import MARK, strip_marks

_COLUMNS = ("id", "chapter", "source", "mt", "post_edit", "decision", "state", "reason")


def choose_export_format(output: Path, job: Job, format: str | None) -> ExportFormat | None:
    """The format to export, None for that of the book: as given, or else as the suffix of the output says.

    A suffix that is not of such a format is refused, unless `format` is "book"; without one it is the book's.
    """
    if format not in (None, "book"):
        return next((name for name in EXPORTS if name == format), None)
    suffix, own = output.suffix.lower(), FORMATS[job.format.removeprefix("bilingual-")]
    if suffix == Path(job.mt).suffix.lower() or suffix in own.suffixes:
        return None
    named = next((name for name, known in FORMATS.items() if suffix in known.suffixes), None)
    if named is None and (not suffix or format == "book"):
        return None
    if format is None and (kind := next((name for name in EXPORTS if name == named), None)):
        return kind
    raise InputError(
        f"{output.name} would be a file of the format {own.title}, as {Path(job.mt).name} is. Call it "
        f"*{own.suffixes[0]}, or export one of: {', '.join(EXPORTS)}.",
        field="output",
    )


def export_rows(rows: Iterable[JobParagraph], out: BinaryIO, *, format: ExportFormat, job: Job) -> int:
    """Write the rows of a job in UTF-8; return their number."""
    if format not in EXPORTS:
        raise InputError(f"Unknown export format {format!r}. Choose one of: {', '.join(EXPORTS)}.", field="format")
    count = 0

    def counted() -> Iterator[JobParagraph]:
        nonlocal count
        for row in rows:
            count += 1
            yield row

    for text in EXPORTS[format](counted(), job):
        # A model's JSON may contain lone surrogates, which UTF-8 can't represent.
        out.write(text.encode("utf-8", "replace"))
    return count


def _jsonl(rows: Iterable[JobParagraph], job: Job) -> Iterator[str]:
    for row in rows:
        yield json.dumps(_fields(row), ensure_ascii=False) + "\n"


def _fields(row: JobParagraph) -> dict[str, object]:
    planned, result = row.planned, row.result
    fields: dict[str, object] = {
        "id": planned.id,
        "chapter": planned.chapter,
        "title": planned.title,
        "source": planned.source,
        "mt": planned.mt,
        "post_edit": result.post_edit if result else None,
        "decision": str(result.decision) if result else None,
        "findings": [asdict(finding) for finding in result.findings] if result else [],
        "edits": [asdict(edit) for edit in result.edits] if result else [],
        "edit_rate": result.edit_rate if result else None,
        "state": str(row.state),
        "reason": row.reason,
        "how": planned.how,
        "confidence": planned.confidence,
    }
    return fields | {"model": result.model, "prompt": result.prompt} if result else fields


def _tsv(rows: Iterable[JobParagraph], job: Job) -> Iterator[str]:
    yield "\t".join(_COLUMNS) + "\n"
    for row in rows:
        fields = _fields(row)
        cells = ("" if fields[name] is None else str(fields[name]) for name in _COLUMNS)
        yield "\t".join(re.sub(r"[\t\r\n]+", " ", cell) for cell in cells) + "\n"


def _txt(rows: Iterable[JobParagraph], job: Job) -> Iterator[str]:
    between = ""
    for row in rows:
        text = strip_marks(row.text).strip()
        if text:
            yield between + text + "\n"
            between = "\n"


def _tmx(rows: Iterable[JobParagraph], job: Job) -> Iterator[str]:
    source, target = job.recipe.source_language, job.recipe.target_language
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
    yield (
        '  <header creationtool="ape-books" creationtoolversion="1" segtype="paragraph" o-tmf="ape-books" '
        f'adminlang="en" srclang="{_attribute(source)}" datatype="plaintext"/>\n  <body>\n'
    )
    for row in rows:
        # A translation memory holds pairs, so a paragraph without a source or a translation is left out.
        if row.planned.source.strip() and row.text.strip():
            yield f'    <tu tuid="{_attribute(row.planned.id)}">\n'
            yield f'      <prop type="x-decision">{_xml(_decision(row))}</prop>\n'
            for language, text in ((source, row.planned.source), (target, row.text)):
                coded = _with_inline_codes(text, _tmx_code)
                yield f'      <tuv xml:lang="{_attribute(language)}"><seg>{coded}</seg></tuv>\n'
            yield "    </tu>\n"
    yield "  </body>\n</tmx>\n"


def _xliff(rows: Iterable[JobParagraph], job: Job) -> Iterator[str]:
    return xliff_lines(((row, _segment_state(row), ()) for row in rows), job)


def xliff_lines(rows: Iterable[tuple[JobParagraph, str, Sequence[str]]], job: Job) -> Iterator[str]:
    """XLIFF 2.0 of paragraphs, each with the state of its segment and further notes."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0"'
    yield f' srcLang="{_attribute(job.recipe.source_language)}" trgLang="{_attribute(job.recipe.target_language)}">\n'
    chapter, files = None, 0
    for row, state, notes in rows:
        if row.planned.chapter != chapter:
            chapter, files = row.planned.chapter, files + 1
            original = _attribute(row.planned.title or job.name)
            yield "  </file>\n" if files > 1 else ""
            yield f'  <file id="f{files}" original="{original}" canResegment="no" xml:space="preserve">\n'
        yield _unit(row, state, notes)
    if not files:
        raise InputError("The job has no paragraphs to export.", field="job")
    yield "  </file>\n</xliff>\n"


def _segment_state(row: JobParagraph) -> str:
    done = row.state is ParagraphState.DONE and row.result and row.result.decision is not Decision.REJECTED
    return "translated" if done else "initial"


def _unit(row: JobParagraph, state: str, more: Sequence[str]) -> str:
    # XLIFF restricts the characters of a unit's id, so ours is its name.
    name = _attribute(row.planned.id)
    notes = f'<note category="decision">{_xml(_decision(row))}</note>'
    if row.reason:
        notes += f'<note category="reason">{_xml(row.reason)}</note>'
    target = f"<target>{_with_inline_codes(row.text, _xliff_code)}</target>" if row.text.strip() else ""
    notes += "".join(f"<note>{_xml(note)}</note>" for note in more)
    return (
        f'    <unit id="u{row.planned.position + 1}" name="{name}">\n      <notes>{notes}</notes>\n'
        f'      <segment state="{state if target else "initial"}">'
        f"<source>{_with_inline_codes(row.planned.source, _xliff_code)}</source>{target}</segment>\n    </unit>\n"
    )


def _decision(row: JobParagraph) -> str:
    return str(row.result.decision if row.result else row.state)


_Code = Callable[[re.Match[str], bool], str]


def _with_inline_codes(text: str, code: _Code) -> str:
    """The text as XML with marks as inline codes, written by `code(match, paired)`."""
    paired = _paired_positions(text)
    out, at = "", 0
    for match in MARK.finditer(text):
        out += _xml(text[at : match.start()]) + code(match, match.start() in paired)
        at = match.end()
    return out + _xml(text[at:])


def _paired_positions(text: str) -> set[int]:
    """The positions of properly nested pairs of marks."""
    opened: list[re.Match[str]] = []
    paired: set[int] = set()
    seen: set[str] = set()
    for match in MARK.finditer(text):
        if match["alone"]:
            continue
        if not match["close"] and match["number"] not in seen:
            opened.append(match)
            seen.add(match["number"])
        elif match["close"] and opened and opened[-1]["number"] == match["number"]:
            paired |= {opened.pop().start(), match.start()}
    return paired


def _tmx_code(match: re.Match[str], paired: bool) -> str:
    number = match["number"]
    if match["alone"]:
        return f'<ph x="{number}"/>'
    if not paired:
        return f'<it pos="{"end" if match["close"] else "begin"}" x="{number}"/>'
    return f'<ept i="{number}"/>' if match["close"] else f'<bpt i="{number}" x="{number}"/>'


def _xliff_code(match: re.Match[str], paired: bool) -> str:
    number = match["number"]
    if match["alone"]:
        return f'<ph id="{number}"/>'
    if not paired:
        return f'<{"ec" if match["close"] else "sc"} id="{number}" isolated="yes"/>'
    return "</pc>" if match["close"] else f'<pc id="{number}">'


def _xml(text: str) -> str:
    return escape_text(text, "utf-8").decode()


def _attribute(text: str) -> str:
    return re.sub(r"\s", " ", _xml(text)).replace('"', "&quot;")


EXPORTS: Mapping[ExportFormat, Callable[[Iterable[JobParagraph], Job], Iterator[str]]] = {
    "jsonl": _jsonl,
    "tsv": _tsv,
    "tmx": _tmx,
    "xliff": _xliff,
    "txt": _txt,
}
