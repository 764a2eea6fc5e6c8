"""Cut a marked-up file into the texts of its blocks, and put new texts in their place; all other bytes stay.

    rules = HtmlRules()                                      # what its elements mean: a subclass of `Rules`
    for piece in cut(read_xml(file, name="ch1.xhtml"), rules):
        if isinstance(piece, Block):
            piece.text                                       # "He said ⟦1⟧no⟦/1⟧."
            piece.encode("She said ⟦1⟧no⟦/1⟧.")                 # the bytes of the block with that text in it
        else:
            piece                                            # bytes between blocks

Pieces joined are the file. `splice` does the whole: it writes a file with new texts in it. Tokens come from `read_xml`
(well-formed XML) or `read_soup` (HTML as people write it).

A block is a stretch of text and inline mark-up directly inside an element of `Kind.BLOCK`, with no other block within:
`<div>one<p>two</p>three</div>` has three. `Block.path` are the elements around it, the innermost last, with
their attributes; elements are told apart by `at`, so blocks of one `<tu>` are those whose path has the same `<tu>`.
Only blocks with text are there; where a block has no text (`<target/>`), nothing is yielded for it.

Where text needs other treatment than marks for elements (runs in DOCX), take `Block.tokens`: its bytes are
`b"".join(token.raw for token in tokens)`, and `ape.books.markup.text_bytes` has the parts to build on.
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
    """A stretch of text with its inline mark-up; `skip` says why it can't be edited, and is empty where it can."""

    tokens: tuple[XmlToken, ...]
    path: tuple[XmlElement, ...]
    encoding: str
    rules: MarkupRules
    skip_reason: str = ""

    @property
    def start(self) -> int:
        """The byte of the file at which it begins."""
        return self.tokens[0].at

    @property
    def end(self) -> int:
        """The byte after its last."""
        return self.tokens[-1].at + len(self.tokens[-1].raw)

    @property
    def raw(self) -> bytes:
        """Its bytes."""
        return b"".join(token.raw for token in self.tokens)

    @property
    def shape(self) -> str:
        """The name of the element that makes it a block."""
        return self.rules.shape(self.path)

    @property
    def skip(self) -> str:
        """Why it is not to be edited."""
        return self.skip_reason or self.marked.skip_reason

    @property
    def text(self) -> str:
        """Its text, inline mark-up as marks."""
        return self.marked.text

    @cached_property
    def marked(self) -> MarkedText:
        """Its text, and the mark-up that the marks stand for."""
        return extract_marked_text(
            self.tokens, self.rules, encoding=self.encoding, path=self.path, flat=bool(self.skip_reason)
        )

    def encode(self, text: str) -> bytes:
        """Its bytes with another text in them. Marks that don't fit are an `InputError`."""
        if text == self.text:
            return self.raw
        if self.skip:
            raise InputError(f"This paragraph can't be edited: {self.skip}.")
        return self.marked.encode(text)


def write_blocks(
    pieces: Iterable[bytes | MarkupBlock], out: BinaryIO, new_text: Callable[[MarkupBlock], str | None]
) -> WriteCounts:
    """Write the pieces with new texts where `new_text` has one; it is asked once for each block, in order."""
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
    """The file as blocks and the bytes between them, in order."""
    return _BlockSplitter(tokens.encoding, rules).cut(tokens.stream)


class _BlockSplitter:
    """Follows the open elements, and gathers what may be text until a block begins or ends."""

    def __init__(self, encoding: str, rules: MarkupRules) -> None:
        self.encoding = encoding
        self.rules = rules
        self.path: list[XmlElement] = []
        self.kinds: list[ElementKind] = []
        # What text in each of the open elements is: FRAME, BLOCK, SKIPPED or IGNORED.
        self.contexts = [rules.root]
        self.run: list[XmlToken] = []
        self.run_path: tuple[XmlElement, ...] = ()

    def cut(self, tokens: Iterator[XmlToken]) -> Iterator[bytes | MarkupBlock]:
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
        # Whatever is inside of what is hidden goes with it, blocks too.
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
        why = self.rules.skip(self.run_path) if run and self.contexts[-1] is ElementKind.SKIPPED else ""
        for part in _balanced(run):
            if any(token.text and not token.text.isspace() for token in part):
                block = MarkupBlock(tuple(part), self.run_path, self.encoding, self.rules, why)
                if strip_marks(block.text).strip():
                    yield block
                    continue
            yield b"".join(token.raw for token in part)


BREAKING_KINDS = (ElementKind.FRAME, ElementKind.BLOCK, ElementKind.SKIPPED, ElementKind.IGNORED)
HIDING_KINDS = (ElementKind.OPAQUE, ElementKind.ASIDE, ElementKind.HALF)


def _balanced(run: Sequence[XmlToken]) -> Iterator[Sequence[XmlToken]]:
    """The run cut at tags whose other half is beyond it: `text <a>more <p>`, where an inline element holds a block."""
    begun: list[int] = []
    lone: list[int] = []
    for index, token in enumerate(run):
        if token.kind == "start":
            begun.append(index)
        elif token.kind == "end":
            if begun:
                begun.pop()
            else:
                lone.append(index)
    position = 0
    for index in sorted([*begun, *lone]):
        if run[position:index]:
            yield run[position:index]
        yield run[index : index + 1]
        position = index + 1
    if run[position:]:
        yield run[position:]
