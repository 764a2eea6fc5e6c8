"""Split a marked-up file into blocks of text, and write it with new texts; all other bytes stay unchanged.

    rules = HtmlRules()                                      # a subclass of `MarkupRules`
    for piece in split_blocks(read_xml(file, name="ch1.xhtml"), rules):
        if isinstance(piece, MarkupBlock):
            piece.text                                       # "He said ⟦1⟧no⟦/1⟧."
            piece.encode("She said ⟦1⟧no⟦/1⟧.")              # the bytes of the block with a new text
        else:
            piece                                            # bytes between blocks

The pieces joined are the file. `write_blocks` writes a file with new texts. Tokens come from `read_xml` (well-formed
XML) or `read_html_tokens` (any HTML).

A block is a run of text and inline mark-up directly inside an element of `ElementKind.BLOCK`, without other blocks:
`<div>one<p>two</p>three</div>` has three. `MarkupBlock.path` has the elements around it, the innermost last. Elements
are identified by their offset `at`. Blocks without text (`<target/>`) are not yielded.

Formats that need more than marks for elements (runs in DOCX) use `MarkupBlock.tokens` and
`ape.books.markup.text_bytes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

from ape.books.book import WriteCounts
from ape.books.markup.marked_text import ElementKind, MarkedText, MarkupRules, extract_marked_text
from ape.books.markup.xml_tokenizer import XmlElement, XmlToken, XmlTokens
from ape.errors import InputError
from ape.text.inline_marks import strip_marks

__all__ = ["ElementKind", "MarkupBlock", "MarkupRules", "split_blocks", "write_blocks"]


@dataclass(frozen=True)
class MarkupBlock:
    """A run of text with inline mark-up; `skip` is the reason not to edit it, or ""."""

    tokens: tuple[XmlToken, ...]
    path: tuple[XmlElement, ...]
    encoding: str
    rules: MarkupRules
    skip_reason: str = ""

    @property
    def start(self) -> int:
        """The offset of its first byte."""
        return self.tokens[0].at

    @property
    def end(self) -> int:
        """The offset after its last byte."""
        return self.tokens[-1].at + len(self.tokens[-1].raw)

    @property
    def raw(self) -> bytes:
        """Its bytes."""
        return b"".join(token.raw for token in self.tokens)

    @property
    def shape(self) -> str:
        """The name of its block element."""
        return self.rules.shape(self.path)

    @property
    def skip(self) -> str:
        """The reason not to edit it, or ""."""
        return self.skip_reason or self.marked.skip_reason

    @property
    def text(self) -> str:
        """Its text, with marks for inline mark-up."""
        return self.marked.text

    @cached_property
    def marked(self) -> MarkedText:
        """Its text, and the mark-up of each mark."""
        return extract_marked_text(
            self.tokens, self.rules, encoding=self.encoding, path=self.path, flat=bool(self.skip_reason)
        )

    def encode(self, text: str) -> bytes:
        """Encode the block with a new text; raises InputError where its marks don't fit."""
        if text == self.text:
            return self.raw
        if self.skip:
            raise InputError(f"This paragraph can't be edited: {self.skip}.")
        return self.marked.encode(text)


def write_blocks(
    pieces: Iterable[bytes | MarkupBlock], out: BinaryIO, new_text: Callable[[MarkupBlock], str | None]
) -> WriteCounts:
    """Write the pieces with new texts; `new_text` is called once for each block, in order."""
    paragraphs = replaced = 0
    for piece in pieces:
        if isinstance(piece, bytes):
            out.write(piece)
            continue
        text = new_text(piece)
        out.write(piece.raw if text is None else piece.encode(text))
        paragraphs += 1
        replaced += text is not None and text != piece.text
    return WriteCounts(paragraphs, replaced)


def split_blocks(tokens: XmlTokens, rules: MarkupRules) -> Iterator[bytes | MarkupBlock]:
    """Split the file into blocks and the bytes between them."""
    return _BlockSplitter(tokens.encoding, rules).split(tokens.stream)


class _BlockSplitter:
    """Tracks open elements, and collects tokens until a block begins or ends."""

    def __init__(self, encoding: str, rules: MarkupRules) -> None:
        self.encoding = encoding
        self.rules = rules
        self.path: list[XmlElement] = []
        self.kinds: list[ElementKind] = []
        # How text in each open element is treated: FRAME, BLOCK, SKIPPED or IGNORED.
        self.contexts = [rules.root]
        self.run: list[XmlToken] = []
        self.run_path: tuple[XmlElement, ...] = ()

    def split(self, tokens: Iterator[XmlToken]) -> Iterator[bytes | MarkupBlock]:
        for token in tokens:
            if token.kind == "start":
                yield from self._start(token)
            elif token.kind == "end":
                yield from self._end(token)
            else:
                yield from self._inside(token)
        yield from self._flush()

    def _start(self, token: XmlToken) -> Iterator[bytes | MarkupBlock]:
        assert token.element
        context = self.contexts[-1]
        hidden = context in (ElementKind.SKIPPED, ElementKind.IGNORED) or (
            self.kinds and self.kinds[-1] in HIDING_KINDS
        )
        # Everything inside a hidden element is hidden, blocks too.
        kind = ElementKind.OPAQUE if hidden else self.rules.kind(token.element, self.path)
        breaks = kind in BREAKING_KINDS
        if breaks:
            yield from self._flush()
            yield token.raw
        else:
            yield from self._inside(token)
        self.path.append(token.element)
        self.kinds.append(kind)
        self.contexts.append(kind if breaks else context)

    def _end(self, token: XmlToken) -> Iterator[bytes | MarkupBlock]:
        kind = self.kinds.pop()
        if kind in BREAKING_KINDS:
            yield from self._flush()
            yield token.raw
        self.path.pop()
        self.contexts.pop()
        if kind not in BREAKING_KINDS:
            yield from self._inside(token)

    def _inside(self, token: XmlToken) -> Iterator[bytes | MarkupBlock]:
        if self.contexts[-1] not in (ElementKind.BLOCK, ElementKind.SKIPPED):
            yield token.raw
            return
        if not self.run:
            self.run_path = tuple(self.path)
        self.run.append(token)

    def _flush(self) -> Iterator[bytes | MarkupBlock]:
        run, self.run = self.run, []
        reason = self.rules.skip(self.run_path) if run and self.contexts[-1] is ElementKind.SKIPPED else ""
        for part in _split_at_unbalanced_tags(run):
            if any(token.text and not token.text.isspace() for token in part):
                block = MarkupBlock(tuple(part), self.run_path, self.encoding, self.rules, reason)
                if strip_marks(block.text).strip():
                    yield block
                    continue
            yield b"".join(token.raw for token in part)


BREAKING_KINDS = (ElementKind.FRAME, ElementKind.BLOCK, ElementKind.SKIPPED, ElementKind.IGNORED)
HIDING_KINDS = (ElementKind.OPAQUE, ElementKind.STANDALONE, ElementKind.HALF)


def _split_at_unbalanced_tags(run: Sequence[XmlToken]) -> Iterator[Sequence[XmlToken]]:
    """Split the run at unbalanced tags, as in `text <a>more <p>`, where an inline element contains a block."""
    opened: list[int] = []
    unmatched: list[int] = []
    for index, token in enumerate(run):
        if token.kind == "start":
            opened.append(index)
        elif token.kind == "end":
            if opened:
                opened.pop()
            else:
                unmatched.append(index)
    position = 0
    for index in sorted([*opened, *unmatched]):
        if run[position:index]:
            yield run[position:index]
        yield run[index : index + 1]
        position = index + 1
    if run[position:]:
        yield run[position:]
