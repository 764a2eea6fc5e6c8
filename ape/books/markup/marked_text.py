"""The text of one block with marks for its inline mark-up, and the way back from an edited text to bytes.

What stands around the whole text is no part of it: leading and trailing space, an element that holds all of it, an
anchor at its beginning, a footnote's number at its end. Marks stand for the exact bytes of their tags.
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


class ElementKind(Enum):
    """What an element is to its text."""

    FRAME = auto()  # holds blocks; text directly in it is none of ours (<w:body>, <tu>, <table>)
    BLOCK = auto()  # text directly in it is a paragraph
    SKIPPED = auto()  # a block that is shown and counted, but never edited (<pre>)
    IGNORED = auto()  # nothing in it is looked at (<script>)
    INLINE = auto()  # a pair of marks around its text (<i>)
    OPAQUE = auto()  # one mark for all of it, that stands for a word of the text (<code>, <ruby>)
    ASIDE = (
        auto()
    )  # one mark for all of it, that is no word: outside of the text where it begins or ends it (<br/>)
    HALF = auto()  # all of it is one half of a pair (<bpt>…</bpt>, <sc/>): see `Rules.half`


class MarkupRules:
    """What the elements of a format mean. Subclass it; `kind` must be there."""

    # Whether a run of white space is one space, as in HTML.
    collapse = True
    # What text is that stands in no element at all.
    root = ElementKind.FRAME

    def kind(self, element: XmlElement, path: Sequence[XmlElement]) -> ElementKind:
        """What this element is, inside of those. It is not asked for what is inside OPAQUE, ASIDE, HALF or IGNORED."""
        raise NotImplementedError

    def half(self, element: XmlElement) -> tuple[bool, str]:
        """For `Kind.HALF`: whether it opens, and what it has in common with its other half."""
        raise NotImplementedError

    def hides(self, element: XmlElement, inside: Sequence[XmlToken]) -> bool:
        """Whether an INLINE element is ASIDE after all, by what is in it (<sup><a>1</a></sup>)."""
        return False

    def shape(self, path: Sequence[XmlElement]) -> str:
        """The shape of a block inside of these elements: the name of the innermost that is a block."""
        for index in range(len(path) - 1, -1, -1):
            if self.kind(path[index], path[:index]) in (ElementKind.BLOCK, ElementKind.SKIPPED):
                return path[index].name
        return ""

    def skip(self, path: Sequence[XmlElement]) -> str:
        """For `Kind.SKIPPED`: why it is not edited."""
        return "not a text to edit"


@dataclass(slots=True)
class InlinePart:
    """A part of a block: a stretch of "text", the "open" or "close" half of a pair, or what stands "alone"."""

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
    """A text with marks, the bytes before and after it, and what each mark stands for."""

    text: str
    prefix: bytes
    suffix: bytes
    raws: dict[str, bytes]
    segments: dict[str, MarkupSegment]  # by the mark before it, "" for the first
    skip_reason: str = ""

    def encode(self, text: str) -> bytes:
        """The bytes of the block with this text in it."""
        if why := describe_misplaced_marks(text, self.text):
            raise InputError(f"The text can't be put back into the file. {why}")
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
    """The text of a block by its tokens. `flat` leaves mark-up out: such a text can be read but not put back."""
    texts_only = (InlinePart("text", [token]) for token in tokens if token.kind == "text")
    parts = list(texts_only) if flat else _parts(tokens, rules, path)
    inner, prefix, suffix = _trimmed(parts, encoding)
    raws: dict[str, bytes] = {}
    texts: dict[str, list[XmlToken]] = {"": []}
    before = ""
    for part in _numbered(inner):
        if part.kind == "text":
            texts[before] += part.tokens
            continue
        before = part.mark
        raws[before], texts[before] = part.raw, []
    segments = {
        mark: MarkupSegment(tokens, encoding, collapse=rules.collapse) for mark, tokens in texts.items()
    }
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
            if kind is ElementKind.INLINE and not rules.hides(token.element, tokens[index + 1 : ends[index]]):
                parts.append(InlinePart("open", [token], pair=index))
                path.append(token.element)
            else:
                parts.append(
                    InlinePart(
                        "alone",
                        list(tokens[index : ends[index] + 1]),
                        can_trim=kind is not ElementKind.OPAQUE,
                    )
                )
                parts[-1].half = rules.half(token.element) if kind is ElementKind.HALF else None
                index = ends[index]
        else:
            parts.append(InlinePart("alone", [token], can_trim=token.kind == "other"))
        index += 1
    _pair_halves(parts, first=len(tokens))
    return _without_empty_pairs(parts)


def _ends(tokens: Sequence[XmlToken]) -> dict[int, int]:
    """For each start tag the place of its end tag, and the other way round."""
    ends: dict[int, int] = {}
    begun: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind == "start":
            begun.append(index)
        elif token.kind == "end":
            ends[index] = begun.pop()
            ends[ends[index]] = index
    return ends


def _pair_halves(parts: list[InlinePart], *, first: int) -> None:
    """Two halves become a pair where they nest properly with everything else; others go on standing alone."""
    begun: list[InlinePart] = []
    for index, part in enumerate(parts):
        if part.kind == "open" or (part.half and part.half[0]):
            begun.append(part)
        elif part.kind == "close":
            while begun.pop().pair != part.pair:
                pass
        elif part.half:
            for other in reversed(begun):
                if other.kind == "open":
                    break
                assert other.half
                if other.half[1] == part.half[1]:
                    del begun[begun.index(other) :]
                    other.kind, part.kind = "open", "close"
                    other.can_trim = part.can_trim = False
                    other.pair = part.pair = first + index
                    break


def _without_empty_pairs(parts: list[InlinePart]) -> list[InlinePart]:
    """An element without any text in it stands alone, with all that is in it."""
    out: list[InlinePart] = []
    begun: list[
        tuple[int, int]
    ] = []  # where each open element stands, and how many texts there were before it
    texts = 0
    for part in parts:
        out.append(part)
        if part.kind == "open":
            begun.append((len(out) - 1, texts))
        elif part.kind == "close":
            start, before = begun.pop()
            if texts == before:
                tokens = [token for other in out[start:] for token in other.tokens]
                can_trim = all(other.can_trim for other in out[start + 1 : -1])
                out[start:] = [InlinePart("alone", tokens, can_trim=can_trim)]
        elif part.kind == "text":
            texts += part.tokens[0].text != ""
    return out


def _trimmed(parts: list[InlinePart], encoding: str) -> tuple[list[InlinePart], bytes, bytes]:
    """The parts that are the text, the bytes before them and those after."""
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
    # The end of a CDATA section is text without a letter, and belongs to what is in it.
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
    """A part of a single text token in two. One that has space at an end and more is spelled letter by letter."""
    (token,) = part.tokens
    if place in (0, len(token.text)):
        nothing = InlinePart("text", [])
        return (nothing, part) if place == 0 else (part, nothing)
    size = len(token.text[:place].encode(encoding, "surrogateescape"))
    head = token._replace(text=token.text[:place], raw=token.raw[:size])
    tail = token._replace(text=token.text[place:], raw=token.raw[size:])
    return InlinePart("text", [head]), InlinePart("text", [tail])


def _numbered(parts: list[InlinePart]) -> Iterator[InlinePart]:
    """The parts with their numbers; what stands alone side by side is one."""
    out: list[InlinePart] = []
    for part in parts:
        if part.kind == "alone" and out and out[-1].kind == "alone":
            out[-1].tokens = out[-1].tokens + part.tokens
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
