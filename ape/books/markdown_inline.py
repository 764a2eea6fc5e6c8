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
from ape.text.inline_marks import MARK, closing_mark, find_marks, opening_mark, standalone_mark

_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]")
_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)[^>]*?(?P<alone>/?)>")
_VOID = frozenset("br img hr wbr input".split())
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


@dataclass(frozen=True, slots=True)
class _Part:
    """Text, half of a pair, or a standalone element. `raw` is its spelling in the file."""

    kind: Literal["text", "open", "close", "alone"]
    text: str = ""
    raw: str = ""
    tag: str = ""
    pair: int = 0


@dataclass(frozen=True, slots=True)
class MarkdownText:
    """A text with marks, the source before and after it, and the mark-up by mark.

    `spellings` maps characters that the paragraph always writes in another way, such as `&amp;`. With `keeps_lines`,
    line ends are marks too.
    """

    text: str
    prefix: str
    suffix: str
    marks: dict[str, _Part]
    spellings: dict[str, str]
    keeps_lines: bool = False


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
        state.found = [found for found in state.found if found.start < start]
        state.found.append(_Span(start, end, "alone", name))
    elif last and last.type in ("code_inline", "hardbreak"):
        if name == "newline":
            start -= len(state.src[:start]) - len(state.src[:start].rstrip(" "))
        state.found.append(_Span(start, end, "alone", last.type))
    elif last and last.type == "softbreak":
        space = len(state.src[:start]) - len(state.src[:start].rstrip(" "))
        kind: _Kind = "alone" if state.keeps_lines else "char"
        state.found.append(_Span(start - space, end, kind, "\n"))
    elif last and last.type == "text_special":
        state.found.append(_Span(start, end, "char", last.content))


def read_inline(markdown: MarkdownIt, source: str, env: EnvType, *, keeps_lines: bool = False) -> MarkdownText:
    """Read a paragraph. `source` has its lines without their prefixes in the file."""
    state = _State(source, markdown, env, keeps_lines=keeps_lines)
    markdown.inline.tokenize(state)
    for rule in markdown.inline.ruler2.getRules(""):
        rule(state)
    found = [*state.found, *_emphasis(state)]
    parts = _pair_html_tags(list(_parts(source, sorted(found, key=lambda item: (item.start, item.end)))))
    return replace(_number_marks(parts), spellings=_spellings(parts), keeps_lines=keeps_lines)


def _spellings(parts: Sequence[_Part]) -> dict[str, str]:
    texts = [part for part in parts if part.kind == "text"]
    plain = {char for part in texts if not part.raw for char in part.text}
    return {part.text: part.raw for part in texts if part.raw and len(part.text) == 1 and part.text not in plain}


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


def _parts(source: str, found: Sequence[_Span]) -> Iterator[_Part]:
    at = 0
    for item in found:
        if item.start < at:
            continue
        yield from _texts(source[at : item.start])
        raw = source[item.start : item.end]
        if item.kind == "char":
            # An escaped dash is still a dash.
            line = source[: item.start].rpartition("\n")[2].replace("\\-", "-")
            glue = line_joiner(line, source[item.end :])
            yield _Part("text", glue) if item.what == "\n" else _Part("text", item.what, raw)
        elif item.kind != "alone":
            if item.kind == "close" and raw in ("]", "][]"):
                # The text of such a link is also its reference, which an edit must not change.
                raw = f"][{source[-item.pair : item.start]}]"
            yield _Part(item.kind, raw=raw, tag=item.what, pair=item.pair)
        else:
            yield _Part("alone", raw=raw, tag=item.what)
        at = item.end
    yield from _texts(source[at:])


def _texts(text: str) -> Iterator[_Part]:
    """Plain text, split at footnote references."""
    at = 0
    for match in _FOOTNOTE.finditer(text):
        yield _Part("text", text[at : match.start()])
        yield _Part("alone", raw=match.group(), tag="footnote")
        at = match.end()
    yield _Part("text", text[at:])


def _pair_html_tags(parts: list[_Part]) -> list[_Part]:
    """Turn matching HTML tags into pairs where they nest properly with other mark-up."""
    opened: list[int] = []
    for index, part in enumerate(parts):
        tag = _TAG.fullmatch(part.raw) if part.tag == "html_inline" else None
        if part.kind == "open" or (tag and not tag["close"] and not tag["alone"] and tag["name"].lower() not in _VOID):
            opened.append(index)
        elif part.kind == "close":
            while opened and parts[opened.pop()].pair != part.pair:
                pass
        elif tag and tag["close"]:
            for place in reversed(opened):
                if parts[place].kind == "open":
                    break
                other = _TAG.fullmatch(parts[place].raw)
                if other and other["name"].lower() == tag["name"].lower():
                    del opened[opened.index(place) :]
                    pair = 1_000_000 + place
                    parts[place] = replace(parts[place], kind="open", pair=pair)
                    parts[index] = replace(part, kind="close", pair=pair)
                    break
    return parts


def _number_marks(parts: list[_Part]) -> MarkdownText:
    prefix, suffix = "", ""
    parts = [part for part in parts if part.kind != "text" or part.text]
    while parts:
        head, tail = parts[0], parts[-1]
        if _is_outside(head):
            prefix += parts.pop(0).raw or head.text
        elif _is_outside(tail):
            suffix = (parts.pop().raw or tail.text) + suffix
        elif head.kind == "open" and tail.kind == "close" and head.pair == tail.pair:
            prefix, suffix = prefix + head.raw, tail.raw + suffix
            parts = parts[1:-1]
        elif head.kind == "text" and head.text != head.text.lstrip():
            parts[0] = replace(head, text=head.text.lstrip())
            prefix += head.text[: len(head.text) - len(parts[0].text)]
        elif tail.kind == "text" and tail.text != tail.text.rstrip():
            parts[-1] = replace(tail, text=tail.text.rstrip())
            suffix = tail.text[len(parts[-1].text) :] + suffix
        else:
            break
    numbers: dict[int, int] = {}
    marks: dict[str, _Part] = {}
    text = ""
    for part in parts:
        if part.kind == "text":
            text += part.text
            continue
        if part.kind != "close":
            count = len([mark for mark in marks if "/" not in mark[:2]]) + 1
            numbers[part.pair] = count
        name = {"open": opening_mark, "close": closing_mark, "alone": standalone_mark}[part.kind](
            count if part.kind == "alone" else numbers[part.pair]
        )
        marks[name] = part
        text += name
    return MarkdownText(text, prefix, suffix, marks, {})


def _is_outside(part: _Part) -> bool:
    if part.kind == "text":
        return not part.text.strip()
    return part.kind == "alone" and part.tag not in ("code_inline", "autolink")


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


def _raw(part: _Part, *, html: bool) -> str:
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
