"""The text of a Word paragraph, stored as runs that each have their own formatting.

Neighbouring runs with equal formatting are joined. The most frequent formatting needs no mark; other formatting, links
and content controls become pairs of marks. Tabs, breaks, images, note numbers, fields, bookmarks and other elements
become standalone marks. Notes of the spelling checker and of page layout are dropped from edited paragraphs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Literal

from ape.books.markup.text_bytes import escape_text, join_tokens
from ape.books.markup.xml_tokenizer import XmlToken
from ape.text.inline_marks import MARK, closing_mark, find_marks, opening_mark, standalone_mark

_PAIRS = ("hyperlink", "smartTag", "sdt", "customXml", "dir", "bdo")
# Properties of a pair, before its content.
_OWN = ("smartTagPr", "customXmlPr")
_DROPPED = ("proofErr", "lastRenderedPageBreak")
_CHARACTERS = {"noBreakHyphen": "\u2011", "softHyphen": "\u00ad"}
_TRACKED = ("ins", "del", "moveFrom", "moveTo")
# Invisible differences.
_INVISIBLE = re.compile(rb"<\w++:(?:lang|noProof)\b[^<>]*/>")
# Links and content controls that are nested deeper stay as they are. Each level is looked at again for the next.
_DEEPEST_PAIR = 16


@dataclass(frozen=True)
class RunFormatting:
    """The formatting of a run: the bytes of its properties."""

    raw: bytes = b""

    @cached_property
    def visible(self) -> bytes:
        """The visible properties, by which formattings are compared."""
        visible = _INVISIBLE.sub(b"", self.raw)
        return b"" if re.fullmatch(rb"<(\w+:)?rPr\s*/?>(</(\w+:)?rPr>)?", visible) else visible


@dataclass(frozen=True, slots=True)
class _RunPart:
    """Text in one formatting, the opening or closing half of a pair, or a standalone element."""

    kind: Literal["text", "open", "close", "alone"]
    text: str = ""
    raw: bytes = b""
    formatting: RunFormatting = field(default_factory=RunFormatting)
    pair: int = 0


@dataclass(frozen=True, slots=True)
class DocxRuns:
    """A paragraph's text with marks, and all that is needed to encode a new text."""

    text: str
    skip: str
    before: bytes
    after: bytes
    formatting: RunFormatting
    marks: dict[str, _RunPart]
    prefix: str
    encoding: str

    def encode(self, new: str) -> bytes:
        """Encode the paragraph with a new text that has all of its marks."""
        out, formattings, at = [self.before], [self.formatting], 0
        for match in MARK.finditer(new):
            out.append(self._run(new[at : match.start()], formattings[-1]))
            out.append(self.enter_mark(match.group(), formattings))
            at = match.end()
        return b"".join([*out, self._run(new[at:], formattings[-1]), self.after])

    def enter_mark(self, mark: str, formattings: list[RunFormatting]) -> bytes:
        """The bytes of a mark; `formattings` gets, or loses, that of the pair."""
        part = self.marks[mark]
        if part.kind == "open":
            formattings.append(part.formatting)
        elif part.kind == "close":
            formattings.pop()
        return part.raw

    def _run(self, text: str, formatting: RunFormatting) -> bytes:
        if not text:
            return b""
        run, content = f"{self.prefix}r", f"{self.prefix}t"
        written = escape_text(re.sub(r"[\r\n\t]+", " ", text), self.encoding)
        head = (
            f"<{run}>".encode(self.encoding)
            + formatting.raw
            + f'<{content} xml:space="preserve">'.encode(self.encoding)
        )
        return head + written + f"</{content}></{run}>".encode(self.encoding)


def read_runs(tokens: Sequence[XmlToken], prefix: str, encoding: str) -> DocxRuns:
    """Read the text of a paragraph from its tokens; `prefix` is that of Word's own elements, usually "w:"."""
    reader = _Reader(prefix)
    parts = _merge(reader.parts(tokens))
    before, parts, after = _trim(parts)
    base = _usual_formatting(parts)
    parts = list(_add_pairs(parts, base))
    text, named = _number_marks(parts)
    skip = "has tracked changes" if reader.tracked else ""
    if not skip and find_marks(text) != list(named):
        skip = "has marks of ours in it"
    # Spaces at both ends are not part of the text.
    head, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :] if text.strip() else ""
    bare = DocxRuns("", "", b"", b"", base, {}, prefix, encoding)
    start = join_tokens(reader.properties) + before + bare._run(head, base)
    return DocxRuns(text.strip(), skip, start, bare._run(tail, base) + after, base, named, prefix, encoding)


class _Reader:
    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.properties: list[XmlToken] = []
        self.tracked = False
        self.fields = 0
        self.held: list[bytes] = []

    def parts(self, tokens: Sequence[XmlToken]) -> list[_RunPart]:
        self.tracked = any(self._is(token, *_TRACKED) for token in tokens)
        found: list[_RunPart] = []
        for element in _children(tokens):
            found += self._parts_of(element, 1)
        if self.held:
            found.append(_RunPart("alone", raw=b"".join(self.held)))
        return found

    def _parts_of(self, element: Sequence[XmlToken], depth: int) -> Iterator[_RunPart]:
        """The parts of a child of the paragraph, or of a link in it."""
        first = element[0]
        if self._is(first, "pPr"):
            self.properties += element
        elif self._is(first, "r"):
            yield from self._run(element)
        elif self._is(first, *_PAIRS) and not self.fields and depth <= _DEEPEST_PAIR:
            before, content, after = self._pair(element)
            yield _RunPart("open", raw=before, pair=first.at)
            for child in content:
                yield from self._parts_of(child, depth + 1)
            yield _RunPart("close", raw=after, pair=first.at)
        elif self.fields:
            self.held.append(join_tokens(element))
        elif not self._is(first, *_DROPPED) and join_tokens(element).strip():
            yield _RunPart("alone", raw=join_tokens(element))

    def _pair(self, element: Sequence[XmlToken]) -> tuple[bytes, list[Sequence[XmlToken]], bytes]:
        """The start, content and end of a pair; the content of a content control is one element further in."""
        children = list(_children(element[1:-1]))
        start, end = element[0].raw, element[-1].raw
        if not self._is(element[0], "sdt"):
            own = list(takewhile(lambda child: self._is(child[0], *_OWN), children))
            return start + _raw(own), children[len(own) :], end
        for at, child in enumerate(children):
            if self._is(child[0], "sdtContent"):
                start, end = (
                    start + _raw(children[:at]) + child[0].raw,
                    child[-1].raw + _raw(children[at + 1 :]) + end,
                )
                return start, list(_children(child[1:-1])), end
        return start + _raw(children), [], end

    def _run(self, element: Sequence[XmlToken]) -> Iterator[_RunPart]:
        children = list(_children(element[1:-1]))
        properties = next((child for child in children if self._is(child[0], "rPr")), ())
        formatting = RunFormatting(join_tokens(properties))
        for child in children:
            first = child[0]
            name = first.element.name.removeprefix(self.prefix) if first.element else ""
            whole = element[0].raw + formatting.raw + join_tokens(child) + element[-1].raw
            if self._is(first, "rPr") or name in _DROPPED or not join_tokens(child).strip():
                continue
            if name == "fldChar" or self.fields:
                yield from self._field(first, whole)
            elif name == "t" and first.kind == "start":
                yield _RunPart("text", _text(child), formatting=formatting)
            elif name in _CHARACTERS:
                yield _RunPart("text", _CHARACTERS[name], formatting=formatting)
            else:
                yield _RunPart("alone", raw=whole)

    def _field(self, first: XmlToken, whole: bytes) -> Iterator[_RunPart]:
        """Collect a field, which may contain other fields, into one standalone part."""
        self.held.append(whole)
        if self._is(first, "fldChar") and first.element:
            kind = first.element.get(f"{self.prefix}fldCharType")
            self.fields += {"begin": 1, "end": -1}.get(kind, 0)
        if self.fields <= 0:
            self.fields = 0
            yield _RunPart("alone", raw=b"".join(self.held))
            self.held = []

    def _is(self, token: XmlToken, *names: str) -> bool:
        return token.element is not None and token.element.name in [self.prefix + name for name in names]


def _children(tokens: Sequence[XmlToken]) -> Iterator[Sequence[XmlToken]]:
    """The top-level elements among the tokens, each with its content; other tokens one by one."""
    depth, start = 0, 0
    for index, token in enumerate(tokens):
        depth += (token.kind == "start") - (token.kind == "end")
        if depth == 0:
            yield tokens[start : index + 1]
            start = index + 1


def _raw(elements: Iterable[Sequence[XmlToken]]) -> bytes:
    return b"".join(map(join_tokens, elements))


def _text(element: Sequence[XmlToken]) -> str:
    """The text of a <w:t>; outer spaces count only with `xml:space="preserve"`."""
    text = "".join(token.text for token in element[1:-1])
    first = element[0].element
    return text if first and first.get("xml:space") == "preserve" else text.strip(" \t\r\n")


def _merge(parts: Sequence[_RunPart]) -> list[_RunPart]:
    """Merge neighbouring texts of equal formatting, and neighbouring standalone parts."""
    groups: list[list[_RunPart]] = []
    for part in parts:
        if part.kind == "text" and not part.text:
            continue
        last = groups[-1][-1] if groups else None
        if last and last.kind == "open" and part.kind == "close":
            groups[-1] = [_RunPart("alone", raw=last.raw + part.raw)]
        elif last and last.kind == part.kind and (part.kind == "alone" or _are_alike(last, part)):
            groups[-1].append(part)
        else:
            groups.append([part])
    return [_join(group) for group in groups]


def _are_alike(text: _RunPart, other: _RunPart) -> bool:
    return text.kind == other.kind == "text" and text.formatting.visible == other.formatting.visible


def _join(group: Sequence[_RunPart]) -> _RunPart:
    if len(group) == 1:
        return group[0]
    return replace(group[0], text="".join(part.text for part in group), raw=b"".join(part.raw for part in group))


def _trim(parts: list[_RunPart]) -> tuple[bytes, list[_RunPart], bytes]:
    """Split off standalone parts around the text, and a pair around all of it."""
    first, last = 0, len(parts)
    before, after = list[bytes](), list[bytes]()
    while first < last:
        head, tail = parts[first], parts[last - 1]
        if head.kind == "alone":
            before.append(head.raw)
            first += 1
        elif tail.kind == "alone":
            after.append(tail.raw)
            last -= 1
        elif head.kind == "open" and tail.kind == "close" and head.pair == tail.pair:
            before.append(head.raw)
            after.append(tail.raw)
            first, last = first + 1, last - 1
        else:
            break
    return b"".join(before), parts[first:last], b"".join(reversed(after))


def _usual_formatting(parts: Sequence[_RunPart]) -> RunFormatting:
    """The most frequent formatting outside of links, else of all text."""
    depth = 0
    counts: dict[bool, Counter[bytes]] = {True: Counter(), False: Counter()}
    formattings: dict[bytes, RunFormatting] = {}
    for part in parts:
        depth += (part.kind == "open") - (part.kind == "close")
        if part.kind == "text":
            formattings.setdefault(part.formatting.visible, part.formatting)
            counts[depth == 0][part.formatting.visible] += len(part.text.strip())
    for count in (counts[True], counts[False]):
        if count:
            return formattings[max(count, key=lambda visible: count[visible])]
    return RunFormatting()


def _add_pairs(parts: Sequence[_RunPart], base: RunFormatting) -> Iterator[_RunPart]:
    """Put a pair around each text whose formatting is not the usual one of its level."""
    formattings = [base]
    number = -1
    for index, part in enumerate(parts):
        if part.kind == "open":
            depth, inside = 1, []
            for other in parts[index + 1 :]:
                depth += (other.kind == "open") - (other.kind == "close")
                if depth == 0:
                    break
                inside.append(other)
            formattings.append(_usual_formatting(inside))
            yield replace(part, formatting=formattings[-1])
        elif part.kind == "close":
            formattings.pop()
            yield part
        elif part.kind == "text" and part.formatting.visible != formattings[-1].visible and part.text.strip():
            yield _RunPart("open", formatting=part.formatting, pair=number)
            yield part
            yield _RunPart("close", pair=number)
            number -= 1
        else:
            yield part


def _number_marks(parts: Sequence[_RunPart]) -> tuple[str, dict[str, _RunPart]]:
    text, count = "", 0
    numbers: dict[int, int] = {}
    named: dict[str, _RunPart] = {}
    for part in parts:
        if part.kind == "text":
            text += part.text
            continue
        if part.kind != "close":
            count += 1
            numbers[part.pair] = count
        number = count if part.kind == "alone" else numbers[part.pair]
        mark = {"open": opening_mark, "close": closing_mark, "alone": standalone_mark}[part.kind](number)
        named[mark] = part
        text += mark
    return text, named
