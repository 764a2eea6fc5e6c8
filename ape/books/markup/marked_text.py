"""Extract the text of a block with marks for its inline mark-up, and encode an edited text.

Mark-up around the whole text is not part of it: outer space, an element around all of it, an anchor at the start, a
footnote number at the end. Each mark represents the exact bytes of its tag.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from ape.books.markup.text_bytes import WHITESPACE, MarkupSegment, join_tokens
from ape.books.markup.xml_tokenizer import XmlElement, XmlToken
from ape.errors import InputError
from ape.text.inline_marks import (
    MARK,
    closing_mark,
    describe_misplaced_marks,
    find_marks,
    opening_mark,
    standalone_mark,
)

# A footnote number has a few tokens. Looking at all content of each of many nested elements would take too long.
MAX_HIDDEN_TOKENS = 100


class ElementKind(Enum):
    """How an element is treated."""

    FRAME = auto()  # contains blocks; its own text is ignored (<w:body>, <tu>, <table>)
    BLOCK = auto()  # text directly in it is a paragraph
    SKIPPED = auto()  # a block that is listed and counted, but never edited (<pre>)
    IGNORED = auto()  # ignored with all of its content (<script>)
    INLINE = auto()  # a pair of marks around its text (<i>)
    OPAQUE = auto()  # one mark, which acts as a word of the text (<code>, <ruby>)
    STANDALONE = auto()  # one mark, which is not a word; excluded at the start or end of the text (<br/>)
    HALF = auto()  # one half of a pair (<bpt>…</bpt>, <sc/>): see `MarkupRules.half`


class MarkupRules:
    """Base of the rules of a format; subclasses implement `kind`."""

    # Whether runs of white space collapse to one space, as in HTML.
    collapse = True
    # How text outside of all elements is treated.
    root = ElementKind.FRAME

    def kind(self, element: XmlElement, path: Sequence[XmlElement]) -> ElementKind:
        """The kind of an element inside `path`. Not called within OPAQUE, STANDALONE, HALF or IGNORED elements."""
        raise NotImplementedError

    def half(self, element: XmlElement) -> tuple[bool, str]:
        """For HALF elements: whether it opens, and the id that it shares with its other half."""
        raise NotImplementedError

    def hides(self, element: XmlElement, inside: Sequence[XmlToken]) -> bool:
        """Whether the content of an INLINE element makes it STANDALONE (<sup><a>1</a></sup>)."""
        return False

    def shape(self, path: Sequence[XmlElement]) -> str:
        """The shape of a block: the name of the innermost block element."""
        for index in range(len(path) - 1, -1, -1):
            if self.kind(path[index], path[:index]) in (ElementKind.BLOCK, ElementKind.SKIPPED):
                return path[index].name
        return ""

    def skip(self, path: Sequence[XmlElement]) -> str:
        """For SKIPPED elements: the reason not to edit."""
        return "not a text to edit"


@dataclass(slots=True)
class InlinePart:
    """A part of a block: "text", the "open" or "close" half of a pair, or an "alone" element."""

    kind: str
    tokens: list[XmlToken]
    pair: int = -1  # the same for the two halves of a pair
    can_trim: bool = False
    half: tuple[bool, str] | None = None
    number: int = 0

    @property
    def raw(self) -> bytes:
        """Its bytes."""
        return join_tokens(self.tokens)

    @property
    def mark(self) -> str:
        """Its mark."""
        return {"open": opening_mark, "close": closing_mark, "alone": standalone_mark}[self.kind](self.number)


@dataclass(frozen=True)
class MarkedText:
    """A text with marks, the bytes before and after it, and the bytes of each mark."""

    text: str
    prefix: bytes
    suffix: bytes
    raws: dict[str, bytes]
    segments: dict[str, MarkupSegment]  # by the preceding mark, "" for the first
    skip_reason: str = ""

    def encode(self, text: str) -> bytes:
        """Encode the block with a new text."""
        if why := describe_misplaced_marks(text, self.text):
            raise InputError(f"The text can't be written to the file. {why}")
        spelling = {char: raw for segment in self.segments.values() for char, raw in segment.references()}
        out, before, position = [self.prefix], "", 0
        for match in MARK.finditer(text):
            out.append(self.segments[before].encode_edited(text[position : match.start()], spelling=spelling))
            out.append(self.raws[match.group()])
            before, position = match.group(), match.end()
        out.append(self.segments[before].encode_edited(text[position:], spelling=spelling))
        return b"".join([*out, self.suffix])


def extract_marked_text(
    tokens: Sequence[XmlToken],
    rules: MarkupRules,
    *,
    encoding: str,
    path: Sequence[XmlElement] = (),
    flat: bool = False,
) -> MarkedText:
    """Extract the text of a block. `flat` drops the mark-up; such a text can be read but not written."""
    texts_only = (InlinePart("text", [token]) for token in tokens if token.kind == "text")
    parts = list(texts_only) if flat else _parts(tokens, rules, path)
    inner, prefix, suffix = _trim(parts, encoding)
    raws: dict[str, bytes] = {}
    texts: dict[str, list[XmlToken]] = {"": []}
    before = ""
    for part in _number_marks(inner):
        if part.kind == "text":
            texts[before] += part.tokens
            continue
        before = part.mark
        raws[before], texts[before] = part.raw, []
    segments = {mark: MarkupSegment(tokens, encoding, collapse=rules.collapse) for mark, tokens in texts.items()}
    text = "".join(mark + segment.text for mark, segment in segments.items())
    skip_reason = "" if find_marks(text) == list(raws) else "has marks of ours in it"
    return MarkedText(text, prefix, suffix, raws, segments, skip_reason)


def _parts(tokens: Sequence[XmlToken], rules: MarkupRules, around: Sequence[XmlElement]) -> list[InlinePart]:
    parts: list[InlinePart] = []
    path = list(around)
    ends = _ends(tokens)
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "text":
            parts.append(InlinePart("text", [token]))
        elif token.kind == "end":
            path.pop()
            parts.append(InlinePart("close", [token], pair=ends[index]))
        elif token.element:
            kind = rules.kind(token.element, path)
            hidden = ends[index] - index <= MAX_HIDDEN_TOKENS and rules.hides(
                token.element, tokens[index + 1 : ends[index]]
            )
            if kind is ElementKind.INLINE and not hidden:
                parts.append(InlinePart("open", [token], pair=index))
                path.append(token.element)
            else:
                parts.append(
                    InlinePart("alone", list(tokens[index : ends[index] + 1]), can_trim=kind is not ElementKind.OPAQUE)
                )
                parts[-1].half = rules.half(token.element) if kind is ElementKind.HALF else None
                index = ends[index]
        else:
            parts.append(InlinePart("alone", [token], can_trim=token.kind == "other"))
        index += 1
    _pair_halves(parts, first=len(tokens))
    return _without_empty_pairs(parts)


def _ends(tokens: Sequence[XmlToken]) -> dict[int, int]:
    """Map start tags to their end tags and vice versa, by index."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind == "start":
            opened.append(index)
        elif token.kind == "end":
            ends[index] = opened.pop()
            ends[ends[index]] = index
    return ends


def _pair_halves(parts: list[InlinePart], *, first: int) -> None:
    """Turn two halves into a pair where they nest properly; other halves stay standalone."""
    opened: list[InlinePart] = []
    elements = [-1]  # places in `opened` of elements, which a pair of halves can't cross
    halves: dict[str, list[int]] = {}  # places in `opened` of halves, by id

    def close_last() -> InlinePart:
        last = opened.pop()
        (halves[last.half[1]] if last.half else elements).pop()
        return last

    for index, part in enumerate(parts):
        if part.kind == "open":
            elements.append(len(opened))
            opened.append(part)
        elif part.half and part.half[0]:
            halves.setdefault(part.half[1], []).append(len(opened))
            opened.append(part)
        elif part.kind == "close":
            while close_last().pair != part.pair:
                pass
        elif part.half and (places := halves.get(part.half[1])) and (place := places[-1]) > elements[-1]:
            other = opened[place]
            while len(opened) > place:
                close_last()
            other.kind, part.kind = "open", "close"
            other.can_trim = part.can_trim = False
            other.pair = part.pair = first + index


def _without_empty_pairs(parts: list[InlinePart]) -> list[InlinePart]:
    """Turn each pair without text into a standalone part with its content."""
    out: list[InlinePart] = []
    opened: list[tuple[int, int]] = []  # index of each open part, and number of texts before it
    texts = 0
    for part in parts:
        out.append(part)
        if part.kind == "open":
            opened.append((len(out) - 1, texts))
        elif part.kind == "close":
            start, before = opened.pop()
            if texts == before:
                tokens = [token for other in out[start:] for token in other.tokens]
                can_trim = all(other.can_trim for other in out[start + 1 : -1])
                out[start:] = [InlinePart("alone", tokens, can_trim=can_trim)]
        elif part.kind == "text":
            texts += part.tokens[0].text != ""
    return out


def _trim(parts: list[InlinePart], encoding: str) -> tuple[list[InlinePart], bytes, bytes]:
    """Split off the bytes before and after the text."""
    first, last = 0, len(parts)
    prefix, suffix = [], []
    while first < last:
        head, tail = parts[first], parts[last - 1]
        if _is_outside(head):
            prefix.append(head.raw)
            first += 1
        elif _is_outside(tail):
            suffix.append(tail.raw)
            last -= 1
        elif head.kind == "open" and tail.kind == "close" and head.pair == tail.pair:
            prefix.append(head.raw)
            suffix.append(tail.raw)
            first, last = first + 1, last - 1
        else:
            break
    inner = parts[first:last]
    if inner and inner[0].kind == "text":
        space, inner[0] = _split(inner[0], _leading(inner[0].tokens[0].text), encoding)
        prefix.append(space.raw)
    # The end of a CDATA section is an empty text token that must stay with the section.
    if inner and inner[-1].kind == "text" and not inner[-1].tokens[-1].literal:
        text = inner[-1].tokens[-1].text
        inner[-1], space = _split(inner[-1], len(text.rstrip(WHITESPACE)), encoding)
        suffix.append(space.raw)
    return inner, b"".join(prefix), b"".join(reversed(suffix))


def _is_outside(part: InlinePart) -> bool:
    if part.kind != "text":
        return part.can_trim
    return all(token.text.strip(WHITESPACE) == "" and not token.literal for token in part.tokens)


def _leading(text: str) -> int:
    return len(text) - len(text.lstrip(WHITESPACE))


def _split(part: InlinePart, place: int, encoding: str) -> tuple[InlinePart, InlinePart]:
    """Split a part of a single text token in two."""
    (token,) = part.tokens
    if place in (0, len(token.text)):
        nothing = InlinePart("text", [])
        return (nothing, part) if place == 0 else (part, nothing)
    size = len(token.text[:place].encode(encoding, "surrogateescape"))
    head = token._replace(text=token.text[:place], raw=token.raw[:size])
    tail = token._replace(text=token.text[place:], raw=token.raw[size:])
    return InlinePart("text", [head]), InlinePart("text", [tail])


def _number_marks(parts: list[InlinePart]) -> Iterator[InlinePart]:
    """Merge neighbouring standalone parts and number the marks."""
    out: list[InlinePart] = []
    for part in parts:
        if part.kind == "alone" and out and out[-1].kind == "alone":
            out[-1].tokens.extend(part.tokens)
        else:
            out.append(part)
    numbers: dict[int, int] = {}
    count = 0
    for part in out:
        if part.kind in ("open", "alone"):
            count += 1
            part.number = count
            numbers[part.pair] = count
        elif part.kind == "close":
            part.number = numbers[part.pair]
    yield from out
