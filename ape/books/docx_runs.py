"""The text of a Word paragraph, which its file keeps in runs: one after another, each with its own formatting.

Runs that look alike are one text. The look that most of the text has needs no mark; where it changes, there is a pair
of marks. Links and content controls are pairs too. Tabs, breaks, images, notes' numbers, fields, bookmarks and all else
stand alone. What only Word's spelling checker or its page layout noted is left out of an edited paragraph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Literal

from ape.books.markup.text_bytes import escape_text, join_tokens
from ape.books.markup.xml_tokenizer import XmlToken
from ape.text.inline_marks import MARK, closing_mark, find_marks, opening_mark, standalone_mark

_PAIRS = ("hyperlink", "smartTag", "sdt", "customXml", "dir", "bdo")
# What a pair says of itself before its content.
_OWN = ("smartTagPr", "customXmlPr")
_DROPPED = ("proofErr", "lastRenderedPageBreak")
_CHARACTERS = {"noBreakHyphen": "\u2011", "softHyphen": "\u00ad"}
_TRACKED = ("ins", "del", "moveFrom", "moveTo")
# Differences that nobody sees.
_UNSEEN = re.compile(rb"<\w+:(?:lang|noProof)\b[^>]*/>")


@dataclass(frozen=True, slots=True)
class RunFormatting:
    """How a run looks: the bytes of its properties, and what of them can be seen."""

    raw: bytes = b""

    @property
    def seen(self) -> bytes:
        """What tells it from another look."""
        shown = _UNSEEN.sub(b"", self.raw)
        return b"" if re.fullmatch(rb"<(\w+:)?rPr\s*/?>(</(\w+:)?rPr>)?", shown) else shown


@dataclass(frozen=True, slots=True)
class _RunPart:
    """A stretch of text in one look, a half of a pair, or what stands alone."""

    kind: Literal["text", "open", "close", "alone"]
    text: str = ""
    raw: bytes = b""
    look: RunFormatting = field(default_factory=RunFormatting)
    pair: int = 0


@dataclass(frozen=True, slots=True)
class DocxRuns:
    """A paragraph's text with marks, and how to write another one in its place."""

    text: str
    skip: str
    before: bytes
    after: bytes
    look: RunFormatting
    marks: dict[str, _RunPart]
    prefix: str
    encoding: str

    def encode(self, new: str) -> bytes:
        """The bytes of the paragraph with a new text in it, its marks all there."""
        out, looks, at = [self.before], [self.look], 0
        for match in MARK.finditer(new):
            out.append(self._run(new[at : match.start()], looks[-1]))
            atom = self.marks[match.group()]
            out.append(atom.raw)
            if atom.kind == "open":
                looks.append(atom.look)
            elif atom.kind == "close":
                looks.pop()
            at = match.end()
        return b"".join([*out, self._run(new[at:], looks[-1]), self.after])

    def _run(self, text: str, look: RunFormatting) -> bytes:
        if not text:
            return b""
        run, content = f"{self.prefix}r", f"{self.prefix}t"
        written = escape_text(re.sub(r"[\r\n\t]+", " ", text), self.encoding)
        head = (
            f"<{run}>".encode(self.encoding)
            + look.raw
            + f'<{content} xml:space="preserve">'.encode(self.encoding)
        )
        return head + written + f"</{content}></{run}>".encode(self.encoding)


def read_runs(tokens: Sequence[XmlToken], prefix: str, encoding: str) -> DocxRuns:
    """The text of a paragraph by the tokens of what is in it; `prefix` is that of Word's own elements, as in "w:"."""
    reader = _Reader(prefix)
    atoms = _merged(reader.atoms(tokens))
    before, atoms, after = _trimmed(atoms)
    base = _usual(atoms)
    atoms = list(_paired(atoms, base))
    text, named = _numbered(atoms)
    skip = "has tracked changes" if reader.tracked else ""
    if not skip and find_marks(text) != list(named):
        skip = "has marks of ours in it"
    # Spaces at the ends of a text are its neighbours' business.
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

    def atoms(self, tokens: Sequence[XmlToken]) -> list[_RunPart]:
        self.tracked = any(self._is(token, *_TRACKED) for token in tokens)
        found: list[_RunPart] = []
        ends: list[int] = []
        for element in _children(tokens):
            found += self._inside(element, ends)
        if self.held:
            found.append(_RunPart("alone", raw=b"".join(self.held)))
        return found

    def _inside(self, element: Sequence[XmlToken], ends: list[int]) -> Iterator[_RunPart]:
        """What a child of the paragraph, or of a link in it, is made of."""
        first = element[0]
        if self._is(first, "pPr"):
            self.properties += element
        elif self._is(first, "r"):
            yield from self._run(element)
        elif self._is(first, *_PAIRS) and not self.fields:
            before, content, after = self._pair(element)
            yield _RunPart("open", raw=before, pair=first.at)
            for child in content:
                yield from self._inside(child, ends)
            yield _RunPart("close", raw=after, pair=first.at)
        elif self.fields:
            self.held.append(join_tokens(element))
        elif not self._is(first, *_DROPPED) and join_tokens(element).strip():
            yield _RunPart("alone", raw=join_tokens(element))

    def _pair(self, element: Sequence[XmlToken]) -> tuple[bytes, list[Sequence[XmlToken]], bytes]:
        """What a pair begins with, its content, and its end; that of a content control is one element further in."""
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
        look = RunFormatting(join_tokens(properties))
        for child in children:
            first = child[0]
            name = first.element.name.removeprefix(self.prefix) if first.element else ""
            whole = element[0].raw + look.raw + join_tokens(child) + element[-1].raw
            if self._is(first, "rPr") or name in _DROPPED or not join_tokens(child).strip():
                continue
            if name == "fldChar" or self.fields:
                yield from self._field(first, whole)
            elif name == "t" and first.kind == "start":
                yield _RunPart("text", _text(child), look=look)
            elif name in _CHARACTERS:
                yield _RunPart("text", _CHARACTERS[name], look=look)
            else:
                yield _RunPart("alone", raw=whole)

    def _field(self, first: XmlToken, whole: bytes) -> Iterator[_RunPart]:
        """A field, from where it begins to where it ends, is one thing; fields may hold fields."""
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
    """The elements side by side in a stretch of tokens, each with all that is in it; other tokens by themselves."""
    depth, start = 0, 0
    for index, token in enumerate(tokens):
        depth += (token.kind == "start") - (token.kind == "end")
        if depth == 0:
            yield tokens[start : index + 1]
            start = index + 1


def _raw(elements: Iterable[Sequence[XmlToken]]) -> bytes:
    return b"".join(map(join_tokens, elements))


def _text(element: Sequence[XmlToken]) -> str:
    """The text of a <w:t>; spaces at its ends count only where it says so."""
    text = "".join(token.text for token in element[1:-1])
    first = element[0].element
    return text if first and first.get("xml:space") == "preserve" else text.strip(" \t\r\n")


def _merged(atoms: Sequence[_RunPart]) -> list[_RunPart]:
    """Neighbours that look alike as one, and what stands alone side by side as one."""
    out: list[_RunPart] = []
    for atom in atoms:
        last = out[-1] if out else None
        if atom.kind == "text" and not atom.text:
            continue
        if last and last.kind == atom.kind == "text" and last.look.seen == atom.look.seen:
            out[-1] = replace(last, text=last.text + atom.text)
        elif last and last.kind == atom.kind == "alone":
            out[-1] = replace(last, raw=last.raw + atom.raw)
        elif last and last.kind == "open" and atom.kind == "close":
            out[-1] = _RunPart("alone", raw=last.raw + atom.raw)
        else:
            out.append(atom)
    return out


def _trimmed(atoms: list[_RunPart]) -> tuple[bytes, list[_RunPart], bytes]:
    """What stands alone around the text, and a link that holds all of it, go out of it."""
    before, after = b"", b""
    while atoms:
        head, tail = atoms[0], atoms[-1]
        if head.kind == "alone":
            before, atoms = before + head.raw, atoms[1:]
        elif tail.kind == "alone":
            after, atoms = tail.raw + after, atoms[:-1]
        elif head.kind == "open" and tail.kind == "close" and head.pair == tail.pair:
            before, after, atoms = before + head.raw, tail.raw + after, atoms[1:-1]
        else:
            break
    return before, atoms, after


def _usual(atoms: Sequence[_RunPart]) -> RunFormatting:
    """The look of most of the text that is in no link, or of most of all."""
    depth = 0
    counts: dict[bool, Counter[bytes]] = {True: Counter(), False: Counter()}
    looks: dict[bytes, RunFormatting] = {}
    for atom in atoms:
        depth += (atom.kind == "open") - (atom.kind == "close")
        if atom.kind == "text":
            looks.setdefault(atom.look.seen, atom.look)
            counts[depth == 0][atom.look.seen] += len(atom.text.strip())
    for count in (counts[True], counts[False]):
        if count:
            return looks[max(count, key=lambda seen: count[seen])]
    return RunFormatting()


def _paired(atoms: Sequence[_RunPart], base: RunFormatting) -> Iterator[_RunPart]:
    """The atoms with a pair around each text that does not look as usual; in a link, as usual there."""
    looks = [base]
    number = -1
    for index, atom in enumerate(atoms):
        if atom.kind == "open":
            depth, inside = 1, []
            for other in atoms[index + 1 :]:
                depth += (other.kind == "open") - (other.kind == "close")
                if depth == 0:
                    break
                inside.append(other)
            looks.append(_usual(inside))
            yield replace(atom, look=looks[-1])
        elif atom.kind == "close":
            looks.pop()
            yield atom
        elif atom.kind == "text" and atom.look.seen != looks[-1].seen and atom.text.strip():
            yield _RunPart("open", look=atom.look, pair=number)
            yield atom
            yield _RunPart("close", pair=number)
            number -= 1
        else:
            yield atom


def _numbered(atoms: Sequence[_RunPart]) -> tuple[str, dict[str, _RunPart]]:
    text, count = "", 0
    numbers: dict[int, int] = {}
    named: dict[str, _RunPart] = {}
    for atom in atoms:
        if atom.kind == "text":
            text += atom.text
            continue
        if atom.kind != "close":
            count += 1
            numbers[atom.pair] = count
        number = count if atom.kind == "alone" else numbers[atom.pair]
        mark = {"open": opening_mark, "close": closing_mark, "alone": standalone_mark}[atom.kind](number)
        named[mark] = atom
        text += mark
    return text, named
