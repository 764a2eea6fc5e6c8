"""Inline Markdown: read a paragraph as text with marks for emphasis, links and code, and render an edited text.

markdown-it-py does not report where inline mark-up is. So its inline rules are wrapped, and what each consumed is
recorded. A new text is escaped as little as possible: it is parsed again, and only where the result differs, more is
escaped and finally emphasis is written as HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block.state_block import StateBlock
from markdown_it.rules_inline.state_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType

from ape.books.line_wrapping import line_joiner
from ape.books.markdown_blocks import add_blocks
from ape.books.markdown_parts import MarkdownPart, MarkdownText, number_marks, pair_html_tags, spellings_of
from ape.text.inline_marks import MARK, find_marks

_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]+\]")
_HTML = {"em": "em", "strong": "strong", "s": "del"}
_SPECIAL = re.compile(r"[\\`*_\[\]<>&~|!]")
_LINE_START = re.compile(r"^(?:(?=[#+=>:$-])|(\d+)(?=[.)]))")
# A placeholder for spaces at which lines may not break.
_FIXED = "\ue000"

_Kind = Literal["open", "close", "alone", "char"]


@dataclass(frozen=True, slots=True)
class _Span:
    """A span of the source that is not plain text; `what` is the tag of the mark-up, or the text it represents."""

    start: int
    end: int
    kind: _Kind
    what: str
    pair: int = 0


def make_parser() -> MarkdownIt:
    """Create a parser of CommonMark with tables, strikethrough and some Pandoc blocks, which records inline spans.

    `[^1]:` opens a footnote, not a link.
    """
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    add_blocks(markdown)
    markdown.core.ruler.enableOnly(["normalize", "block"])
    markdown.inline.ruler2.disable("fragments_join")
    for rule in markdown.inline.ruler.__rules__:
        rule.fn = _recording(rule.name, rule.fn)
    markdown.inline.ruler.__cache__ = None
    for block_rule in markdown.block.ruler.__rules__:
        if block_rule.name == "reference":
            block_rule.fn = _without_footnotes(block_rule.fn)
    markdown.block.ruler.__cache__ = None
    return markdown


class _State(StateInline):
    """The parser's state, with the spans that its rules consumed."""

    def __init__(self, src: str, markdown: MarkdownIt, env: EnvType, *, keeps_lines: bool) -> None:
        super().__init__(src, markdown, env, [])
        self.keeps_lines = keeps_lines
        self.spans: dict[int, tuple[int, int]] = {}
        self.found: list[_Span] = []


_Rule = Callable[[StateInline, bool], bool]
# Breaks a text into lines, given its number among the texts between hard line breaks.
Fold = Callable[[int, str], Sequence[str]]
_BlockRule = Callable[[StateBlock, int, int, bool], bool]


def _recording(name: str, rule: _Rule) -> _Rule:
    def record(state: StateInline, silent: bool) -> bool:
        start, count = state.pos, len(state.tokens)
        done = rule(state, silent)
        if done and not silent and isinstance(state, _State):
            _record(state, name, start, state.tokens[count:])
        return done

    return record


def _without_footnotes(rule: _BlockRule) -> _BlockRule:
    def refer(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        at = state.bMarks[start] + state.tShift[start]
        return not state.src.startswith("[^", at) and rule(state, start, end, silent)

    return refer


def _record(state: _State, name: str, start: int, tokens: Sequence[Token]) -> None:
    end = state.pos
    last = tokens[-1] if tokens else None
    if name in ("emphasis", "strikethrough"):
        at = end
        for token in reversed(tokens):
            if at == start:
                break
            state.spans[id(token)] = at - len(token.content), at
            at -= len(token.content)
    elif name == "link":
        label_end = state.md.helpers.parseLinkLabel(state, start, True)
        state.found.append(_Span(start, start + 1, "open", "a", -1 - start))
        state.found.append(_Span(label_end, end, "close", "a", -1 - start))
    elif name in ("image", "autolink", "html_inline"):
        while state.found and state.found[-1].start >= start:
            state.found.pop()
        state.found.append(_Span(start, end, "alone", name))
    elif last and last.type in ("code_inline", "hardbreak"):
        if name == "newline":
            start = _before_spaces(state.src, start)
        state.found.append(_Span(start, end, "alone", last.type))
    elif last and last.type == "softbreak":
        kind: _Kind = "alone" if state.keeps_lines else "char"
        state.found.append(_Span(_before_spaces(state.src, start), end, kind, "\n"))
    elif last and last.type == "text_special":
        state.found.append(_Span(start, end, "char", last.content))


def _before_spaces(text: str, end: int) -> int:
    """Where the spaces before a place begin."""
    while end and text[end - 1] == " ":
        end -= 1
    return end


def read_inline(markdown: MarkdownIt, source: str, env: EnvType, *, keeps_lines: bool = False) -> MarkdownText:
    """Read a paragraph. `source` has its lines without their prefixes in the file."""
    state = _State(source, markdown, env, keeps_lines=keeps_lines)
    markdown.inline.tokenize(state)
    for rule in markdown.inline.ruler2.getRules(""):
        rule(state)
    found = [*state.found, *_emphasis(state)]
    parts = pair_html_tags(list(_parts(source, sorted(found, key=lambda item: (item.start, item.end)))))
    return replace(number_marks(parts), spellings=spellings_of(parts), keeps_lines=keeps_lines)


def _emphasis(state: _State) -> Iterator[_Span]:
    opened: list[int] = []
    tokens = sorted(
        (token for token in state.tokens if token.tag in _HTML and id(token) in state.spans),
        key=lambda token: state.spans[id(token)],
    )
    for token in tokens:
        start, end = state.spans[id(token)]
        if token.nesting > 0:
            # The parser's token is the second of two opening characters, and the first of two closing ones.
            start -= token.tag == "strong"
            opened.append(start)
            yield _Span(start, end, "open", token.tag, 1 + start)
        elif opened:
            yield _Span(start, end + (token.tag == "strong"), "close", token.tag, 1 + opened.pop())


def _parts(source: str, found: Sequence[_Span]) -> Iterator[MarkdownPart]:
    at = 0
    for item in found:
        if item.start < at:
            continue
        yield from _texts(source[at : item.start])
        raw = source[item.start : item.end]
        if item.kind == "char" and item.what == "\n":
            # An escaped dash is still a dash.
            line = source[source.rfind("\n", 0, item.start) + 1 : item.start].replace("\\-", "-")
            yield MarkdownPart("text", line_joiner(line, source[item.end : item.end + 1]))
        elif item.kind == "char":
            yield MarkdownPart("text", item.what, raw)
        elif item.kind != "alone":
            if item.kind == "close" and raw in ("]", "][]"):
                # The text of such a link is also its reference, which an edit must not change.
                raw = f"][{source[-item.pair : item.start]}]"
            yield MarkdownPart(item.kind, raw=raw, tag=item.what, pair=item.pair)
        else:
            yield MarkdownPart("alone", raw=raw, tag=item.what)
        at = item.end
    yield from _texts(source[at:])


def _texts(text: str) -> Iterator[MarkdownPart]:
    """Plain text, split at footnote references."""
    at = 0
    for match in _FOOTNOTE.finditer(text):
        yield MarkdownPart("text", text[at : match.start()])
        yield MarkdownPart("alone", raw=match.group(), tag="footnote")
        at = match.end()
    yield MarkdownPart("text", text[at:])


def render_inline(
    markdown: MarkdownIt,
    inline: MarkdownText,
    new: str,
    *,
    env: EnvType,
    fold: Fold = lambda number, text: [text],
    fits: Callable[[Sequence[str]], bool],
) -> list[str] | None:
    """Render a new text as the lines of a paragraph, or None where Markdown can't express it.

    `fold` breaks the text between two hard line breaks into lines. `fits` tells whether lines parse as one block.
    """
    for careful, html in ((False, False), (True, False), (True, True)):
        lines = list(_lines(inline, new, fold, careful=careful, html=html))
        if fits(lines):
            read = read_inline(markdown, "\n".join(lines), env, keeps_lines=inline.keeps_lines)
            if _same(read, inline, new, html=html):
                return lines
    return None


def _same(read: MarkdownText, inline: MarkdownText, new: str, *, html: bool) -> bool:
    renumbered, raws = _in_order(new, inline)
    if _compact(read.text) != _compact(renumbered) or _compact(read.prefix) != _compact(inline.prefix):
        return False
    return html or [_compact(part.raw) for part in read.marks.values()] == raws


def _in_order(new: str, inline: MarkdownText) -> tuple[str, list[str]]:
    """The text with its marks renumbered in the order in which they open, and their mark-up in that order."""
    numbers: dict[str, str] = {}

    def renumber(match: re.Match[str]) -> str:
        number = numbers.setdefault(match["number"], str(len(numbers) + 1))
        return f"⟦{match['close']}{number}{match['alone']}⟧"

    return MARK.sub(renumber, new), [_compact(inline.marks[mark].raw) for mark in find_marks(new)]


def _compact(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _lines(inline: MarkdownText, new: str, fold: Fold, *, careful: bool, html: bool) -> Iterator[str]:
    whole = inline.prefix.replace(" ", _FIXED)
    at = 0
    for match in MARK.finditer(new):
        whole += _escape(new[at : match.start()], inline.spellings, careful=careful)
        whole += _raw(inline.marks[match.group()], html=html)
        at = match.end()
    whole += _escape(new[at:], inline.spellings, careful=careful) + inline.suffix.replace(" ", _FIXED)
    for number, part in enumerate(whole.split("\n")):
        for line in fold(number, part):
            # The start of a line could begin a list or a heading.
            escaped = _LINE_START.sub(lambda match: f"{match[1] or ''}\\", line) if careful else line
            yield escaped.replace(_FIXED, " ")


def _raw(part: MarkdownPart, *, html: bool) -> str:
    if html and part.tag in _HTML:
        return f"<{'/' * (part.kind == 'close')}{_HTML[part.tag]}>"
    # In code and in link targets a line end equals a space; here it would break the line.
    raw = part.raw.replace("\n", " ") if part.tag in ("code_inline", "a") else part.raw
    return raw.replace(" ", _FIXED)


def _escape(text: str, spellings: dict[str, str], *, careful: bool) -> str:
    text = re.sub(r"[\r\n]+", " ", text)
    return "".join(spellings.get(char) or (f"\\{char}" if careful and _SPECIAL.match(char) else char) for char in text)


def is_paragraph(markdown: MarkdownIt, lines: Sequence[str]) -> bool:
    """Whether these lines parse as a single paragraph."""
    tokens = markdown.parse("\n".join(lines))
    kinds = [token.type for token in tokens]
    return kinds == ["paragraph_open", "inline", "paragraph_close"] and not tokens[0].markup


def is_heading_line(markdown: MarkdownIt, lines: Sequence[str]) -> bool:
    """Whether this line parses as a heading after `#`."""
    tokens = markdown.parse("# " + "\n".join(lines))
    kinds = [token.type for token in tokens]
    return kinds == ["heading_open", "inline", "heading_close"] and tokens[1].content == lines[0].strip()


__all__ = ["MarkdownText", "is_heading_line", "is_paragraph", "make_parser", "read_inline", "render_inline"]
