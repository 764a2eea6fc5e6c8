r"""Parser for the mark-up of entities, pronouns and quotations: plain text with spans.

`<PER, T, 1>{乔恋}` marks an entity, `<P, 1>{她}` a pronoun, `<O, 1>{her}` a pronoun that the other language omits;
these nest. `<Q, 5> … <\Q>` is direct speech of entity 5 and may span several lines; one space inside each of its tags
belongs to the mark-up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import regex

from eval.corpus.annotation_issue import AnnotationIssue
from eval.linguistics.bwb.tags import BwbTag, BwbTagKind, parse_tag

__all__ = ["AnnotationIssue", "BwbMarkup", "BwbQuotation", "BwbSpan", "parse_markup", "read_markup"]

_PIECE = regex.compile(r" ?<[\\/]Q\s*>|<[^<>{}]*>(?P<brace>\{)?|[{}<> ]|[^{}<> ]+")
_END = regex.compile(r" ?<(?P<slash>[\\/])Q\s*>")


@dataclass(frozen=True, slots=True)
class BwbSpan:
    """A mention: its position in the plain text (lines from 0) and its tag."""

    line: int
    start: int
    end: int
    kind: BwbTagKind
    entity: str
    type: str = ""
    terminology: bool | None = None


@dataclass(frozen=True, slots=True)
class BwbQuotation:
    """Direct speech, from a position in one line to one in the same or a later line."""

    speaker: str
    first_line: int
    start: int
    last_line: int
    end: int


@dataclass(frozen=True, slots=True)
class BwbMarkup:
    """Plain lines and their annotations."""

    lines: tuple[str, ...]
    spans: tuple[BwbSpan, ...]
    quotations: tuple[BwbQuotation, ...] = ()
    issues: tuple[AnnotationIssue, ...] = ()

    def text_of(self, span: BwbSpan) -> str:
        """The words of a mention."""
        return self.lines[span.line][span.start : span.end]

    def chains(self) -> dict[str, tuple[BwbSpan, ...]]:
        """By entity, all its mentions: names, pronouns, and pronouns that the other language omits."""
        found: dict[str, tuple[BwbSpan, ...]] = {}
        for span in self.spans:
            found[span.entity] = (*found.get(span.entity, ()), span)
        return found


def read_markup(path: Path) -> BwbMarkup:
    """Read a file with mark-up."""
    return parse_markup(path.read_text(encoding="utf-8-sig").splitlines())


def parse_markup(lines: Sequence[str]) -> BwbMarkup:
    """Parse lines with mark-up; errors become issues."""
    parser = _Parser()
    texts = tuple(parser.line(number, line) for number, line in enumerate(lines))
    parser.finish(texts)
    spans = sorted(parser.spans, key=lambda span: (span.line, span.start, -span.end))
    issues = [*parser.issues, *_conflicting_types(spans, lines)]
    return BwbMarkup(texts, tuple(spans), tuple(parser.quotations), tuple(sorted(issues)))


@dataclass(frozen=True, slots=True)
class _Open:
    tag: BwbTag | None
    """None: a brace without a tag, which is part of the text."""
    line: int
    start: int
    column: int


@dataclass(slots=True)
class _Parser:
    spans: list[BwbSpan] = field(default_factory=list)
    quotations: list[BwbQuotation] = field(default_factory=list)
    issues: list[AnnotationIssue] = field(default_factory=list)
    _quotes: list[_Open] = field(default_factory=list)
    _braces: list[_Open] = field(default_factory=list)
    _text: str = ""

    def line(self, number: int, line: str) -> str:
        """The plain line; its annotations are collected."""
        self._text, at = "", 0
        while at < len(line):
            piece = _PIECE.match(line, at)
            assert piece is not None, "every character begins a piece"
            at = self._piece(number, line, piece)
        for left in reversed(self._braces):
            if left.tag is not None:
                self._add_issue(
                    number, left.column, "a brace that is never closed; it is closed at the end of the line"
                )
                self._span(left, len(self._text))
            else:
                self._add_issue(number, left.column, "a brace without a tag before it, read as text")
        self._braces.clear()
        return self._text

    def finish(self, texts: Sequence[str]) -> None:
        """Close open quotations at the end of the text."""
        for left in self._quotes:
            self._add_issue(left.line, left.column, r"a quotation that is never closed with <\Q>")
            self._quote(left, len(texts) - 1, len(texts[-1]))

    def _piece(self, number: int, line: str, piece: regex.Match[str]) -> int:
        """Process one piece; return the position of the next."""
        text, column = piece.group(), piece.start()
        if end := _END.fullmatch(text):
            self._end_quote(number, column, end["slash"])
        elif text == "{":
            self._braces.append(_Open(None, number, len(self._text), column))
            self._text += text
        elif text == "}":
            self._close(number, line, column)
        elif text in "<>":
            self._add_issue(number, column, f"a {text!r} outside any tag, read as text")
            self._text += text
        elif text.startswith("<"):
            return self._tag(number, line, piece)
        else:
            self._text += text
        return piece.end()

    def _tag(self, number: int, line: str, piece: regex.Match[str]) -> int:
        inner = piece.group().removesuffix("{")[1:-1]
        tag, wrong = parse_tag(inner)
        for message in wrong:
            self._add_issue(number, piece.start(), message)
        opened = _Open(tag, number, len(self._text), piece.start())
        if tag is None:
            if piece["brace"]:  # the brace belongs to the tag, not to the text
                self._braces.append(_Open(BwbTag("entity", ""), number, len(self._text), piece.start()))
            else:
                self._text += piece.group()
            return piece.end()
        if tag.kind == "quotation":
            self._quotes.append(opened)
            if piece["brace"]:
                return piece.end() - 1
            return piece.end() + line.startswith(" ", piece.end())
        if not piece["brace"]:
            rest = line[piece.end() :]
            if "}" not in rest.split("<")[0].split("{")[0]:
                self._add_issue(number, piece.start(), f"<{inner}> marks nothing: no braces follow it")
                return piece.end()
            self._add_issue(number, piece.end(), f"no opening brace after <{inner}>")
        self._braces.append(opened)
        return piece.end()

    def _close(self, number: int, line: str, column: int) -> None:
        if not self._braces:
            self._add_issue(number, column, "a closing brace without an opening one, read as text")
            self._text += "}"
            return
        opened = self._braces.pop()
        if opened.tag is None:
            self._add_issue(number, opened.column, "braces without a tag before them, read as text")
            self._text += "}"
            return
        self._span(opened, len(self._text))
        after = line[column + 1 : column + 2]
        if _RUNS_ON.fullmatch(self._text[-1:] + after):
            self._add_issue(number, column + 1, "no space between a mention and the word after it")

    def _span(self, opened: _Open, end: int) -> None:
        if opened.tag is not None and opened.tag.entity:
            tag = opened.tag
            self.spans.append(BwbSpan(opened.line, opened.start, end, tag.kind, tag.entity, tag.type, tag.terminology))

    def _end_quote(self, number: int, column: int, slash: str) -> None:
        if slash == "/":
            self._add_issue(number, column, r"</Q> should be <\Q>")
        if self._quotes:
            self._quote(self._quotes.pop(), number, len(self._text))
        else:
            self._add_issue(number, column, r"<\Q> closes no quotation")

    def _quote(self, opened: _Open, line: int, end: int) -> None:
        assert opened.tag is not None
        self.quotations.append(BwbQuotation(opened.tag.entity, opened.line, opened.start, line, end))

    def _add_issue(self, line: int, column: int, message: str) -> None:
        self.issues.append(AnnotationIssue(line + 1, column + 1, message))


# Words of scripts with spaces between words.
_RUNS_ON = regex.compile(r"[\p{Latin}\p{Cyrillic}\p{Greek}]{2}")


def _conflicting_types(spans: Sequence[BwbSpan], lines: Sequence[str]) -> Iterator[AnnotationIssue]:
    """Entities with different types in different places."""
    types: dict[str, str] = {}
    for span in spans:
        if span.type and types.setdefault(span.entity, span.type) != span.type:
            tag = regex.search(rf"<\s*{span.type}\b[^<>]*\b{span.entity}\s*>", lines[span.line], regex.IGNORECASE)
            yield AnnotationIssue(
                span.line + 1,
                tag.start() + 1 if tag else 1,
                f"entity {span.entity} is {span.type} here and {types[span.entity]} earlier",
            )
