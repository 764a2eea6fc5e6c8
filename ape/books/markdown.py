"""Markdown books: paragraphs, headings, list items, quotes and table cells are edited, the rest is copied.

markdown-it-py finds the blocks. It parses a section of the file at a time, split where a new block surely begins, with
the link definitions of the whole file collected first. Front matter, code, HTML blocks, maths, link definitions and the
frames of tables and divs stay unchanged.

An edited paragraph is wrapped again if it was wrapped at the margin of the file; otherwise its lines break after the
same words as before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.token import Token

from ape.books.book import Paragraph, UnicodeBook
from ape.books.encoding import Encoding, FileLine, find_encoding, read_lines
from ape.books.file_pieces import FilePiece, TextFileBook, skip_reason
from ape.books.line_breaks import restore_line_breaks
from ape.books.line_wrapping import display_width, needed_width, wrap_text
from ape.books.markdown_blocks import LINE_BLOCK
from ape.books.markdown_inline import (
    MarkdownText,
    is_heading_line,
    is_paragraph,
    make_parser,
    read_inline,
    render_inline,
)
from ape.errors import InputError
from ape.text.inline_marks import MARK, strip_marks

# How many characters are parsed at a time: some pages.
_SECTION_CHARACTERS = 1 << 14
# A line that probably begins a new block.
_BEGINNING = re.compile(r"#|[^\W\d_]|[\"“«‘„「]")
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)((?:[^\[\]\\]|\\.){1,999})\]:")
_FOOTNOTE_START = re.compile(r"\[\^[^\]\s]+\]:[ \t]*")
_LONGEST_FRONT_MATTER = 1000
_CELLS = ("th", "td")
# A TeX command alone in a paragraph, which Pandoc allows: \\newpage, \\vspace{1em}.
_COMMAND = re.compile(r"\\[A-Za-z]+\*?(?:\[[^\]]*\]|\{[^{}]*\})*")
_ITEM = re.compile(r"(?:[-+*]|\d[.)])\s+$")
_HARD_BREAK = re.compile(r"(?: {2}|\\)$")
# The range of margins, and how near to the margin most wrapped lines end.
_NARROWEST = 40
_WIDEST = 120
_NEARLY = 0.9
_SENTENCE_ENDS = (*".!?…。！？", *(end + quote for end in ".!?…" for quote in "\"'”’»)"))
# In characters of the source, with all mark-up.
LONGEST_INLINE = 100_000
_UNCLEAR = "its place in the file is not clear"


@dataclass(frozen=True, slots=True)
class MarkdownBook(UnicodeBook, TextFileBook):
    """A Markdown file."""

    path: Path
    encoding: Encoding
    references: dict[str, dict[str, str]]
    margin: int = 0
    language: str | None = None
    source_language: str | None = None
    format: str = "markdown"
    bilingual: bool = False

    def pieces(self) -> Iterator[FilePiece]:
        """Iterate over the blocks as pieces."""
        reader = _Reader(self.encoding, self.references, self.margin)
        front, rest = _front_matter(read_lines(self.path, self.encoding))
        yield FilePiece(_raw(front))
        for section in reader.sections(rest):
            yield from reader.pieces(section)


def open_markdown(
    path: Path, *, encoding: str | None = None, source_language: str | None = None, target_language: str | None = None
) -> MarkdownBook:
    """Open a Markdown file: collect its link definitions and measure its margin."""
    found = find_encoding(path, encoding=encoding)
    references = {}
    widths: Counter[int] = Counter()
    before = ""
    for line in read_lines(path, found):
        if before.strip() and line.text.strip() and _NARROWEST <= display_width(before) <= _WIDEST:
            widths[display_width(before)] += 1
        before = line.text.rstrip()
        if match := _DEFINITION.match(line.text):
            references[normalizeReference(match[1])] = {"href": "", "title": ""}
    return MarkdownBook(path, found, references, _margin(widths))


def _margin(widths: Counter[int]) -> int:
    """The 95th percentile of the widths of lines within paragraphs; 0 where there are none."""
    rest = 0.95 * widths.total()
    for columns in sorted(widths):
        rest -= widths[columns]
        if rest <= 0:
            return columns
    return 0


def _raw(some: Sequence[FileLine]) -> bytes:
    return b"".join(line.raw for line in some)


def _front_matter(all_lines: Iterator[FileLine]) -> tuple[list[FileLine], Iterator[FileLine]]:
    """Split off YAML or TOML front matter."""
    held: list[FileLine] = []
    ends: tuple[str, ...] = ()
    for line in all_lines:
        held.append(line)
        text = line.text.rstrip()
        if len(held) == 1:
            ends = {"---": ("---", "..."), "+++": ("+++",)}.get(text, ())
        elif text in ends:
            return held, all_lines
        if not ends or len(held) > _LONGEST_FRONT_MATTER:
            break
    return [], _chain(held, all_lines)


def _chain(held: list[FileLine], rest: Iterator[FileLine]) -> Iterator[FileLine]:
    yield from held
    yield from rest


@dataclass(slots=True)
class _Reader:
    """State of one pass over the file: chapter and paragraph number."""

    encoding: Encoding
    references: dict[str, dict[str, str]]
    margin: int
    markdown: MarkdownIt = field(default_factory=make_parser)
    number: int = 0
    chapter: int = 0
    title: str = ""

    def env(self) -> dict[str, Any]:
        return {"references": self.references}

    def next_id(self) -> str:
        return f"p{self.number + 1}"

    def inline(self, source: str, *, keeps_lines: bool = False) -> MarkdownText:
        """The text and mark-up of a paragraph; a text that no model takes is left unread, for its marks take long."""
        if len(source) > LONGEST_INLINE:
            return MarkdownText.unread(source)
        return read_inline(self.markdown, source, self.env(), keeps_lines=keeps_lines)

    def tokens(self, some: Sequence[FileLine]) -> list[Token]:
        return self.markdown.parse("\n".join(line.text for line in some), self.env())

    def sections(self, all_lines: Iterator[FileLine]) -> Iterator[list[FileLine]]:
        """The file in sections that can be parsed independently."""
        held: list[FileLine] = []
        size, enough = 0, _SECTION_CHARACTERS
        for line in all_lines:
            if size >= enough and not held[-1].text.strip() and _BEGINNING.match(line.text):
                if self._begins_here(held, line):
                    yield held
                    held, size, enough = [], 0, _SECTION_CHARACTERS
                else:
                    enough = size + size // 4
            held.append(line)
            size += len(line.text) + 1
        yield held

    def _begins_here(self, held: list[FileLine], line: FileLine) -> bool:
        """Whether a top-level block begins with this line, unlike a line within a code fence."""
        starts = ("paragraph_open", "heading_open")
        return any(
            token.map and token.map[0] == len(held) and token.level == 0 and token.type in starts
            for token in self.tokens([*held, line])
        )

    def pieces(self, section: list[FileLine]) -> Iterator[FilePiece]:
        done = 0
        for first, blocks in _by_line(self.tokens(section)):
            yield FilePiece(_raw(section[done:first]))
            if blocks[0].shape in _CELLS:
                yield from self._row(section[first], blocks)
                done = first + 1
            else:
                lines = section[first : first + blocks[0].content.count("\n") + 1]
                place = _BlockLines.find(self, lines, blocks[0])
                yield self._piece(place)
                done = first + len(place.lines)
        yield FilePiece(_raw(section[done:]))

    def _piece(self, place: _BlockLines) -> FilePiece:
        text = strip_marks(place.inline.text)
        if place.shape in ("h1", "h2"):
            self.chapter += self.number > 0
            self.title = " ".join(text.split())
        skip = "" if place.clear else _UNCLEAR
        if len(place.inline.text) > LONGEST_INLINE:
            skip = f"longer than {LONGEST_INLINE:,} characters"
        if _COMMAND.fullmatch("\n".join(written for _, written, _ in place.parts)):
            skip = "a command of TeX"
        skip = skip or ("has marks of ours in it" if place.has_foreign_marks() else skip_reason(text))
        self.number += 1
        paragraph = Paragraph(place.id, self.chapter, self.title, place.inline.text, shape=place.shape, skip=skip)
        return FilePiece(_raw(place.lines), paragraph, place.render)

    def _row(self, line: FileLine, cells: list[_Block]) -> Iterator[FilePiece]:
        """The cells of a table row, and the bytes between them."""
        pieces, position = [], 0
        for cell in cells:
            written = cell.content.replace("|", "\\|")
            start = line.text.find(written, position)
            if not written or start < 0:
                continue
            inline = self.inline(cell.content)
            held = FileLine(written, "", self.encoding.encode(written, place=""))
            place = _BlockLines(self, [held], [("", written, "")], inline, cell.shape, self.next_id())
            pieces.append(FilePiece(self.encoding.encode(line.text[position:start], place="")))
            pieces.append(self._piece(place))
            position = start + len(written)
        pieces.append(FilePiece(self.encoding.encode(line.text[position:] + line.end, place="")))
        # Some encodings have two byte sequences for one text; such a row is not split.
        yield from pieces if b"".join(piece.raw for piece in pieces) == line.raw else [FilePiece(line.raw)]


class _Block(NamedTuple):
    """A block with text: its shape ("h1", "td", "p"), content, and number of `#` before it."""

    shape: str
    content: str
    hashes: int
    keeps_lines: bool


def _by_line(tokens: list[Token]) -> Iterator[tuple[int, list[_Block]]]:
    """The blocks by the line they begin on; only the cells of a table row share a line."""
    texts = [(before, token) for before, token in pairwise(tokens) if token.type == "inline" and token.map]
    for first, group in groupby(texts, key=lambda pair: pair[1].map[0] if pair[1].map else 0):
        yield (
            first,
            [
                _Block(
                    "li" if before.hidden else before.tag,
                    token.content,
                    before.markup.count("#"),
                    before.markup == LINE_BLOCK,
                )
                for before, token in group
            ],
        )


@dataclass(frozen=True, slots=True)
class _BlockLines:
    """The lines of one block; `parts` has the prefix, text and suffix of each."""

    reader: _Reader
    lines: list[FileLine]
    parts: list[tuple[str, str, str]]
    inline: MarkdownText
    shape: str
    id: str
    clear: bool = True

    @classmethod
    def find(cls, reader: _Reader, held: list[FileLine], block: _Block) -> _BlockLines:
        contents = [text.lstrip(" \t") for text in block.content.split("\n")]
        found = [_split(line.text, text, block.hashes) for line, text in zip(held, contents, strict=False)]
        clear = all(part is not None for part in found) and len(held) == len(contents)
        parts = [part or ("", line.text, "") for part, line in zip(found, held, strict=True)]
        if match := _FOOTNOTE_START.match(parts[0][1]):
            head, text, tail = parts[0]
            parts[0] = head + match.group(), text[match.end() :], tail
        source = "\n".join(text for _, text, _ in parts)
        inline = reader.inline(source, keeps_lines=block.keeps_lines)
        return cls(reader, held, parts, inline, block.shape, reader.next_id(), clear)

    def has_foreign_marks(self) -> bool:
        """Whether the file's own text looks like our marks."""
        return any(MARK.search(text) for _, text, _ in self.parts)

    def render(self, new: str) -> bytes:
        reader = self.reader
        markdown, env = reader.markdown, reader.env()
        behind_hashes = self.shape.startswith("h") and "#" in self.parts[0][0]
        if self.shape in _CELLS:
            lines = render_inline(markdown, self.inline, new, env=env, fits=lambda lines: len(lines) == 1)
            lines = lines and [re.sub(r"(?<!\\)\|", r"\\|", lines[0])]
        else:
            check = is_heading_line if behind_hashes else is_paragraph
            lines = render_inline(
                markdown,
                self.inline,
                new,
                env=env,
                fold=self._break_lines,
                fits=lambda some: self.inline.keeps_lines or check(markdown, some),
            )
        if lines is None:
            raise InputError(f"Paragraph {self.id} can't be written as Markdown: {new[:60]!r}.", field=self.id)
        return reader.encoding.encode(self._join_lines(lines), place=self.id, references=True)

    def _break_lines(self, number: int, text: str) -> list[str]:
        """Break a text into lines like the old one between the same hard line breaks."""
        if self.inline.keeps_lines:
            return [text]
        sections: list[list[str]] = [[]]
        for _, written, _ in self.parts:
            sections[-1].append(written)
            if _HARD_BREAK.search(written):
                sections.append([])
        old = sections[number] if number < len(sections) else []
        if len(old) < 2:
            return [text]
        columns = self._columns()
        if not columns:
            return restore_line_breaks(old, text)
        return list(
            wrap_text(
                text,
                columns,
                first=display_width(self.parts[min(number, 1)][0]),
                other=display_width(self._continuation_prefix()),
            )
        )

    def _columns(self) -> int:
        """The width that its lines were wrapped to; 0 where they were not wrapped."""
        margin = self.reader.margin
        texts = [line.text.rstrip() for line in self.lines]
        soft = [
            needed_width(text, following) > _NEARLY * margin and not text.endswith(_SENTENCE_ENDS)
            for text, (_, following, _), line in zip(texts, self.parts[1:], self.lines, strict=False)
            if not _HARD_BREAK.search(line.text)
        ]
        if not margin or 2 * sum(soft) <= len(soft):
            return 0
        return max(margin, *map(display_width, texts)) if len(texts) == 2 else max(map(display_width, texts))

    def _continuation_prefix(self) -> str:
        """The prefix of all lines but the first."""
        return self._prefixes()[1] if len(self.parts) > 1 else re.sub(r"[^\s>]", " ", self.parts[0][0])

    def _prefixes(self) -> list[str]:
        """The prefix of each line. Lazy continuation lines get a full prefix, since a new text could begin a list."""
        first, *others = (head for head, _, _ in self.parts)
        proper = re.sub(r"[^\s>]", " ", first)
        least = display_width(first) if _ITEM.search(first) else 0
        return [
            first,
            *(proper if head.count(">") < first.count(">") or display_width(head) < least else head for head in others),
        ]

    def _join_lines(self, lines: list[str]) -> str:
        """Join the new lines with the prefixes and the suffix of the old ones."""
        heads = self._prefixes()
        if len(lines) != len(heads):
            heads = [heads[0], *[self._continuation_prefix()] * (len(lines) - 1)]
        end = self.lines[0].end or "\n"
        whole = end.join(head + text for head, text in zip(heads, lines, strict=True))
        return whole + self.parts[-1][2] + self.lines[-1].end


def _split(line: str, text: str, hashes: int) -> tuple[str, str, str] | None:
    """Split a line into the part before a text, the text, and the rest; the text follows `hashes` signs `#`."""
    if hashes:
        start = line.find(text, line.index("#") + hashes)
    else:
        trimmed = line if line.endswith(text) else line.rstrip()
        start = len(trimmed) - len(text) if trimmed.endswith(text) else -1
    return (line[:start], text, line[start + len(text) :]) if start >= 0 else None
