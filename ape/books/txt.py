"""Plain text: paragraphs between blank lines, or one on each line, detected from the file.

One pass over the file decides:
- Lines are *wrapped* where most of them end because the next word did not fit, and few of these end a sentence. Then a
  blank line ends a paragraph. In a file with hardly any blank lines, an indented line begins a paragraph, or a short
  line ends one.
- Short lines in small groups that are not wrapped are verse: a group is a paragraph and keeps its line ends.
- Otherwise every line is a paragraph.

An edited paragraph is wrapped to its old width; all others keep every byte. Where a short line ends a paragraph, the
last line is made short, and where that is impossible, a blank line follows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from ape.books.book import NewText, Paragraph, WriteCounts
from ape.books.encoding import Encoding, FileLine, find_encoding, read_lines
from ape.books.file_pieces import FilePiece, TextFileBook, skip_reason, write_pieces
from ape.books.headings import is_heading
from ape.books.line_wrapping import display_width, needed_width, unwrap_lines, wrap_text, wrap_text_with_short_last_line

# The range of margins. Wider lines are not wrapped; their widths are counted up to _BEYOND.
_WIDEST = 160
_NARROWEST = 20
_BEYOND = 400
# The margin is the width that this share of lines keeps to; lines of words that can't be parted exceed it. With 0.99,
# three paragraphs with such lines among sixty widened the margin, and full lines elsewhere were read as short ones.
_MARGIN = 0.97
# The share of line ends that wrapping must explain.
_MOST = 0.6
# A line is full from this share of the margin on: wrapping is not always greedy.
_NEARLY = 0.9
# Where more than this share of full lines end a sentence, they are paragraphs of similar length.
_SENTENCES = 0.5
_SENTENCE_ENDS = (*".!?…:;\"'”’»›)]。！？；：」』）】", "--", "—")
_VERSE_WIDTH = 72
_VERSE_LINES = 20
# With more lines than this between blank lines on average, blank lines don't separate paragraphs.
_MAX_MEAN_LINES = 60
# So it is with fewer lines, if these many of them on average end neither at the margin nor before a blank line.
_LONG = 15
_SHORT_LINES = 4
# Columns left free at the end of a short line, for the first word of the next paragraph.
_NEXT_WORD = 12
_LINE_END = re.compile("\r\n|\r|\n")


class ParagraphBreak(StrEnum):
    """What separates paragraphs."""

    LINE = "line"
    BLANK = "blank line"
    INDENT = "indented line"
    SHORT = "short line"


@dataclass(frozen=True, slots=True)
class TextLayout:
    """How a file is laid out; `columns` is the width of its wrapped lines, 0 where they are not wrapped."""

    separator: ParagraphBreak
    columns: int = 0


@dataclass(slots=True)
class _Survey:
    """Counts of one pass over the file, of constant size."""

    widths: Counter[int] = field(default_factory=Counter)
    inner: Counter[int] = field(default_factory=Counter)
    needs: Counter[int] = field(default_factory=Counter)
    blocks: int = 0
    indents: int = 0
    sentences: Counter[int] = field(default_factory=Counter)

    def count(self, all_lines: Iterable[FileLine]) -> _Survey:
        previous = ""
        for line in all_lines:
            text = line.text.rstrip()
            if text:
                self.widths[min(display_width(text), _BEYOND)] += 1
                if previous:
                    self.inner[min(display_width(previous), _BEYOND)] += 1
                    need = min(needed_width(previous, text.lstrip()), _BEYOND)
                    self.needs[need] += 1
                    self.sentences[need] += previous.endswith(_SENTENCE_ENDS)
                    self.indents += _indented(text) and not _indented(previous)
                else:
                    self.blocks += 1
            previous = text
        return self

    def layout(self) -> TextLayout:
        columns = _quantile(self.inner, _MARGIN)
        full = _above(self.needs, columns * _NEARLY)
        sentences = _above(self.sentences, columns * _NEARLY)
        mean = self.widths.total() / max(1, self.blocks)
        explained = full >= _MOST * self.needs.total() and sentences <= _SENTENCES * full
        if _NARROWEST <= columns <= _WIDEST and explained:
            if self.indents > self.blocks:
                return TextLayout(ParagraphBreak.INDENT, columns)
            short = self.needs.total() - full
            endless = mean > _MAX_MEAN_LINES or (mean > _LONG and short > _SHORT_LINES * self.blocks)
            return TextLayout(ParagraphBreak.SHORT if endless else ParagraphBreak.BLANK, columns)
        grouped = self.blocks > 1 and 2 <= mean <= _VERSE_LINES
        verse = grouped and _quantile(self.widths, 0.95) <= _VERSE_WIDTH
        return TextLayout(ParagraphBreak.BLANK if verse else ParagraphBreak.LINE)


def _quantile(counts: Counter[int], share: float) -> int:
    rest = counts.total() * share
    for value in sorted(counts):
        rest -= counts[value]
        if rest <= 0:
            return value
    return 0


def _above(counts: Counter[int], limit: float) -> int:
    return sum(count for value, count in counts.items() if value > limit)


def _indented(text: str) -> bool:
    return text.startswith(("  ", "\t", "\u3000", "\u00a0"))


@dataclass(frozen=True, slots=True)
class TextBook(TextFileBook):
    """A plain text file."""

    path: Path
    encoding: Encoding
    layout: TextLayout
    format: str = "txt"
    bilingual: bool = False
    language: str | None = None
    source_language: str | None = None

    def pieces(self) -> Iterator[FilePiece]:
        """Iterate over the paragraphs and blank lines as pieces."""
        number, chapter, title = 0, 0, ""
        for block in self._blocks():
            if not block[0].text.strip():
                yield FilePiece(b"".join(line.raw for line in block))
                continue
            place = _ParagraphLines(block, self.layout, self.encoding, f"p{number + 1}")
            text = place.text()
            heading = is_heading(text)
            if heading:
                chapter, title = chapter + (number > 0), " ".join(text.split())
            number += 1
            shape = "h1" if heading else "p"
            paragraph = Paragraph(place.id, chapter, title, text, shape=shape, skip=skip_reason(text))
            yield FilePiece(b"".join(line.raw for line in block), paragraph, place.render)

    def write(self, out: BinaryIO, text_of: NewText) -> WriteCounts:
        """Write the file with new texts."""
        out.write(self.encoding.bom)
        between = self._between if self.layout.separator is ParagraphBreak.SHORT else None
        return write_pieces(self.pieces(), out, text_of, between=between)

    def _between(self, before: bytes, after: bytes) -> bytes:
        """A blank line where the second paragraph would be read as part of the first."""
        first, second = before.decode(self.encoding.name), after.decode(self.encoding.name)
        last, start = _LINE_END.split(first.rstrip("\r\n"))[-1], _LINE_END.split(second)[0]
        if self._is_break(last, start):
            return b""
        return first[len(first.rstrip("\r\n")) :].encode(self.encoding.name)

    def _blocks(self) -> Iterator[list[FileLine]]:
        """The lines of each paragraph, and blank lines one by one."""
        block: list[FileLine] = []
        for line in read_lines(self.path, self.encoding):
            if block and self._is_break(block[-1].text, line.text):
                yield block
                block = []
            block.append(line)
        if block:
            yield block

    def _is_break(self, before: str, after: str) -> bool:
        """Whether a paragraph ends between these two lines."""
        if not before.strip() or not after.strip() or self.layout.separator is ParagraphBreak.LINE:
            return True
        if is_heading(before) and not is_heading(f"{before}\n{after}"):
            return True
        if self.layout.separator is ParagraphBreak.INDENT:
            return _indented(after) and not _indented(before)
        if self.layout.separator is ParagraphBreak.SHORT:
            return not _full(before, after, self.layout.columns)
        return False


@dataclass(frozen=True, slots=True)
class _ParagraphLines:
    """The lines of one paragraph."""

    lines: list[FileLine]
    layout: TextLayout
    encoding: Encoding
    id: str

    def text(self) -> str:
        """The text: wrapped lines joined, lines of verse kept."""
        texts = [line.text.strip() for line in self.lines]
        return "\n".join(texts) if self._verse() else unwrap_lines(texts)

    def render(self, new: str) -> bytes:
        first, last = self.lines[0], self.lines[-1]
        start = _indent(first.text)
        if self.layout.separator is ParagraphBreak.LINE:
            trail = first.text[len(first.text.rstrip()) :]
            return self._encode(start + " ".join(new.split()) + trail + first.end)
        if self._verse():
            texts = [text.strip() for text in new.split("\n") if text.strip()]
            indents = [_indent(line.text) for line in self.lines]
            indents += indents[-1:] * (len(texts) - len(indents))
        else:
            other = _indent(self.lines[1].text) if len(self.lines) > 1 else ""
            columns = self._columns()
            joined = unwrap_lines(new.split("\n"))
            taken = {"first": display_width(start), "other": display_width(other)}
            if self.layout.separator is ParagraphBreak.SHORT:
                full = self.layout.columns * _NEARLY
                longest = full - _NEXT_WORD
                texts = wrap_text_with_short_last_line(joined, columns, full=full, longest=longest, **taken)
            else:
                texts = list(wrap_text(joined, columns, **taken))
            indents = [start, *[other] * (len(texts) - 1)]
        end = first.end or "\n"
        whole = end.join(indent + text for indent, text in zip(indents, texts, strict=False))
        return self._encode(whole + last.end)

    def _verse(self) -> bool:
        """Whether line ends are meaningful: fewer than half of them are due to the margin."""
        if len(self.lines) < 2 or self.layout.separator is ParagraphBreak.SHORT:
            return False
        ends = zip(self.lines, self.lines[1:], strict=False)
        full = sum(_full(line.text, following.text, self.layout.columns) for line, following in ends)
        return not self.layout.columns or 2 * full < len(self.lines) - 1

    def _columns(self) -> int:
        """The width of the paragraph: the file's, unless the paragraph is clearly narrower or wider."""
        usual = self.layout.columns
        if self.layout.separator is ParagraphBreak.SHORT:
            return usual
        widest = max(display_width(line.text.rstrip()) for line in self.lines)
        return usual if len(self.lines) == 1 or 0.8 * usual <= widest <= usual else widest

    def _encode(self, text: str) -> bytes:
        return self.encoding.encode(text, place=f"Paragraph {self.id}")


def _full(line: str, following: str, columns: int) -> bool:
    return needed_width(line.rstrip(), following.strip()) > columns * _NEARLY


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def open_text(
    path: Path, *, encoding: str | None = None, source_language: str | None = None, target_language: str | None = None
) -> TextBook:
    """Open a plain text file and detect its layout."""
    found = find_encoding(path, encoding=encoding)
    layout = _Survey().count(read_lines(path, found)).layout()
    return TextBook(path, found, layout)
