"""Word documents with tracked changes (`w:ins`, `w:del`) and comments: inside a document, or as a new one."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from ape.books.archive import Archive
from ape.books.book import WriteCounts
from ape.books.docx import DocxBook, DocxParagraph
from ape.books.docx_runs import DocxRuns, RunFormatting
from ape.books.markup.text_bytes import escape_text
from ape.books.tracked_text import TrackedChange, TrackedPiece, apart_from_marks, rejected_text, without_marks
from ape.text.inline_marks import MARK

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_HEAD = b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_FIRST_ID = 900_000
_COMMENT_ID = re.compile(rb"""<w:comment\b[^>]*\bw:id\s*=\s*["'](\d+)""")
_SPECIAL = re.compile(r"(\n|\t)")

# The changes of a paragraph by its id, or None where it has none.
PiecesOf = Callable[[str], Sequence[TrackedPiece] | None]


@dataclass(slots=True)
class DocxChanges:
    """Numbers changes and collects comments; `prefix` is that of Word's own elements."""

    prefix: str = "w:"
    with_comments: bool = True
    first_comment: int = 0
    comments: list[bytes] = field(default_factory=list)
    _next: int = _FIRST_ID

    def wrap(self, kind: str, runs: bytes, change: TrackedChange) -> bytes:
        """Runs as removed or inserted by somebody."""
        if not runs:
            return b""
        self._next += 1
        name = f"{self.prefix}{'del' if kind == 'removed' else 'ins'}"
        return f"<{name} {self._attributes(self._next, change)}>".encode() + runs + f"</{name}>".encode()

    def _attributes(self, number: int, change: TrackedChange) -> str:
        w = self.prefix
        return f'{w}id="{number}" {w}author="{_attribute(change.author)}" {w}date="{change.date}"'

    def comment(self, change: TrackedChange | None) -> tuple[bytes, bytes]:
        """The start and the end of a comment around a change; empty if it has none."""
        if not change or not change.comment or not self.with_comments:
            return b"", b""
        number, w = self.first_comment + len(self.comments), self.prefix
        initials = _attribute(change.author[:1])
        self.comments.append(
            f'<w:comment w:id="{number}" w:author="{_attribute(change.author)}" w:date="{change.date}" '
            f'w:initials="{initials}"><w:p><w:r><w:t xml:space="preserve">'.encode()
            + escape_text(change.comment, "utf-8")
            + b"</w:t></w:r></w:p></w:comment>"
        )
        start = f'<{w}commentRangeStart {w}id="{number}"/>'
        end = f'<{w}commentRangeEnd {w}id="{number}"/><{w}r><{w}commentReference {w}id="{number}"/></{w}r>'
        return start.encode(), end.encode()


def _attribute(text: str) -> str:
    return re.sub(r"\s", " ", escape_text(text, "utf-8").decode()).replace('"', "&quot;")


def encode_run(text: str, formatting: bytes, prefix: str, *, removed: bool = False) -> bytes:
    """A run of text; line breaks and tabs are elements of their own."""
    if not text:
        return b""
    w, out = prefix, b""
    content = f"{w}delText" if removed else f"{w}t"
    for part in _SPECIAL.split(text):
        if part in ("\n", "\t"):
            out += f"<{w}br/>".encode() if part == "\n" else f"<{w}tab/>".encode()
        elif part:
            out += f'<{content} xml:space="preserve">'.encode() + escape_text(part, "utf-8") + f"</{content}>".encode()
    return f"<{w}r>".encode() + formatting + out + f"</{w}r>".encode()


def encode_tracked(runs: DocxRuns, pieces: Sequence[TrackedPiece], changes: DocxChanges) -> bytes:
    """A paragraph of a Word document with tracked changes; `pieces` have every mark in one that stays."""
    out, formattings = [runs.before], [runs.formatting]
    last: TrackedChange | None = None
    end = b""
    for piece in pieces:
        if piece.change is not last:
            out.append(end)
            start, end = changes.comment(piece.change)
            out.append(start)
            last = piece.change
        out.append(_encode_piece(runs, piece, formattings, changes))
    return b"".join([*out, end, runs.after])


def _encode_piece(runs: DocxRuns, piece: TrackedPiece, formattings: list[RunFormatting], changes: DocxChanges) -> bytes:
    if piece.kind != "same" and piece.change:
        text = encode_run(piece.text, formattings[-1].raw, runs.prefix, removed=piece.kind == "removed")
        return changes.wrap(piece.kind, text, piece.change)
    out, at = b"", 0
    for match in MARK.finditer(piece.text):
        out += encode_run(piece.text[at : match.start()], formattings[-1].raw, runs.prefix)
        out += runs.enter_mark(match.group(), formattings)
        at = match.end()
    return out + encode_run(piece.text[at:], formattings[-1].raw, runs.prefix)


def write_tracked_docx(book: DocxBook, out: BinaryIO, pieces_of: PiecesOf) -> tuple[WriteCounts, list[str]]:
    """Write the document with tracked changes, and return the ids of paragraphs whose changes could not be tracked.

    Those keep the MT: a change moved a link, an image or other formatting in them.
    """
    untracked: list[str] = []
    paragraphs = replaced = 0
    contents: dict[str, bytes] = {}
    with Archive(book.path) as archive:
        folder = posixpath.dirname(book.parts[0])
        place = posixpath.join(folder, "comments.xml")
        known = archive.read(place) if place in archive else b""
        changes = DocxChanges(first_comment=1 + max(map(int, _COMMENT_ID.findall(known)), default=-1))
        for part in book.parts:
            # Word has no comments in notes.
            changes.with_comments = part == book.parts[0]
            content = io.BytesIO()

            def encode(one: DocxParagraph) -> bytes | None:
                return _encode_paragraph(one, pieces_of, changes, untracked)

            written = book.write_part(archive, part, content, encode)
            paragraphs += written.paragraphs
            replaced += written.replaced
            contents[part] = content.getvalue()
        contents |= _with_comments(archive, folder, place, known, changes.comments)
        _write_archive(archive, out, contents)
    return WriteCounts(paragraphs, replaced), untracked


def _encode_paragraph(
    one: DocxParagraph, pieces_of: PiecesOf, changes: DocxChanges, untracked: list[str]
) -> bytes | None:
    pieces = None if one.paragraph.skip else pieces_of(one.paragraph.id)
    if not pieces or all(piece.kind == "same" for piece in pieces):
        return None
    apart = apart_from_marks(pieces)
    if apart is None or rejected_text(pieces) != one.paragraph.text:
        untracked.append(one.paragraph.id)
        return None
    changes.prefix = one.runs.prefix
    return encode_tracked(one.runs, apart, changes)


def _with_comments(
    archive: Archive, folder: str, place: str, known: bytes, comments: Sequence[bytes]
) -> dict[str, bytes]:
    """The entries that change because of comments."""
    if not comments:
        return {}
    if known:
        return {place: known.replace(b"</w:comments>", b"".join(comments) + b"</w:comments>")}
    rels, types = posixpath.join(folder, "_rels/document.xml.rels"), "[Content_Types].xml"
    relation = f'<Relationship Id="rIdApeComments" Type="{_OFFICE}/comments" Target="comments.xml"/>'.encode()
    override = f'<Override PartName="/{place}" ContentType="{_TYPES}.comments+xml"/>'.encode()
    entries = {place: comments_part(comments)}
    if rels in archive:
        entries[rels] = _insert(archive.read(rels), b"</Relationships>", relation)
    else:
        entries[rels] = _relationships([relation])
    entries[types] = _insert(archive.read(types), b"</Types>", override)
    return entries


def _insert(content: bytes, before: bytes, added: bytes) -> bytes:
    at = content.rindex(before)
    return content[:at] + added + content[at:]


def comments_part(comments: Iterable[bytes]) -> bytes:
    """The part with the comments."""
    return _HEAD + f'<w:comments xmlns:w="{WORD}">'.encode() + b"".join(comments) + b"</w:comments>"


def _relationships(entries: Iterable[bytes]) -> bytes:
    return (
        _HEAD + f'<Relationships xmlns="{_PACKAGE}/relationships">'.encode() + b"".join(entries) + b"</Relationships>"
    )


def _write_archive(archive: Archive, out: BinaryIO, contents: dict[str, bytes]) -> None:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name in archive.names:
            with archive.open(name) as file:
                made.writestr(name, contents.pop(name, b"") or file.read())
        for name, content in contents.items():
            made.writestr(name, content)


@dataclass(frozen=True, slots=True)
class NewDocxParagraph:
    """A paragraph of a new document."""

    pieces: Sequence[TrackedPiece]
    begins_chapter: bool = False


def write_new_docx(out: BinaryIO, paragraphs: Iterable[NewDocxParagraph], *, language: str) -> int:
    """Write a new document with tracked changes, without formatting; return the number of its paragraphs."""
    changes, count = DocxChanges(), 0
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        with made.open("word/document.xml", "w") as document:
            document.write(_HEAD + f'<w:document xmlns:w="{WORD}"><w:body>'.encode())
            for one in paragraphs:
                count += 1
                document.write(_new_paragraph(one, changes))
            document.write(b"<w:sectPr/></w:body></w:document>")
        made.writestr("word/comments.xml", comments_part(changes.comments))
        for name, content in _fixed_parts(language).items():
            made.writestr(name, content)
    return count


def _new_paragraph(one: NewDocxParagraph, changes: DocxChanges) -> bytes:
    properties = b"<w:pPr><w:pageBreakBefore/></w:pPr>" if one.begins_chapter else b""
    runs = DocxRuns("", "", properties, b"", RunFormatting(), {}, "w:", "utf-8")
    return b"<w:p>" + encode_tracked(runs, without_marks(one.pieces), changes) + b"</w:p>"


def _fixed_parts(language: str) -> dict[str, bytes]:
    override = '<Override PartName="/word/{0}.xml" ContentType="{1}.{2}+xml"/>'
    parts = (("document", "document.main"), ("comments", "comments"), ("styles", "styles"))
    types = (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        + "".join(override.format(name, _TYPES, kind) for name, kind in parts)
        + "</Types>"
    )
    relation = '<Relationship Id="r{0}" Type="{1}/{2}" Target="{3}"/>'
    own = [relation.format(n, _OFFICE, kind, f"{kind}.xml").encode() for n, kind in enumerate(("comments", "styles"))]
    styles = (
        f'<w:styles xmlns:w="{WORD}"><w:docDefaults><w:rPrDefault><w:rPr><w:lang w:val="{_attribute(language)}"/>'
        "</w:rPr></w:rPrDefault></w:docDefaults></w:styles>"
    )
    return {
        "[Content_Types].xml": _HEAD + types.encode(),
        "_rels/.rels": _relationships([relation.format(0, _OFFICE, "officeDocument", "word/document.xml").encode()]),
        "word/_rels/document.xml.rels": _relationships(own),
        "word/styles.xml": _HEAD + styles.encode(),
    }
