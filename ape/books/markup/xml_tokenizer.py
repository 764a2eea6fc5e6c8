"""An XML file as a stream of tokens that, put one after another, are the file again, byte for byte.

Tokens come from expat with the bytes they were read from, so nothing is ever written out anew. No DTD is loaded and
no entity is expanded: a file that declares entities is refused, a reference that only an unread DTD could explain
(`&nbsp;` in XHTML) is a token of its own.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from html.entities import html5
from itertools import pairwise
from typing import BinaryIO, Literal, NamedTuple
from xml.parsers import expat

from ape.errors import InputError

CHUNK_BYTES = 1 << 16
# One tag or comment is read again from its start with every chunk, so an endless one would take forever.
MAX_TOKEN_BYTES = 1 << 23
MAX_DEPTH = 2000


class NotWellFormed(InputError):
    """It is no XML that a parser would accept."""


class XmlElement(NamedTuple):
    """An element where it begins; `at` is the byte at which its tag stands, and tells it from all others."""

    name: str
    attributes: Mapping[str, str]
    at: int

    def get(self, name: str, default: str = "") -> str:
        """The value of an attribute."""
        return self.attributes.get(name, default)


class XmlToken(NamedTuple):
    """A piece of a file: what it is, and the bytes it stands in.

    - "start" and "end" have an `element`. `<br/>` is both, the latter with no bytes.
    - "text" has its characters in `text`; a character reference is a token of its own. Text that is `literal` stands in
      a CDATA section, whose two ends are literal tokens without text.
    - "entity" is a reference to what we can't know.
    - "other" is a comment, a processing instruction, a declaration, a stray end tag.
    """

    kind: Literal["start", "end", "text", "entity", "other"]
    raw: bytes
    at: int
    text: str = ""
    element: XmlElement | None = None
    literal: bool = False


class XmlTokens(NamedTuple):
    """The tokens of a file, and the encoding that new text in it must have."""

    encoding: str
    stream: Iterator[XmlToken]


def read_xml(file: BinaryIO, *, name: str) -> XmlTokens:
    """The tokens of a well-formed file; `name` is what errors call it. `NotWellFormed` may come at any token."""
    head = file.read(CHUNK_BYTES)
    encoding = declared_encoding(head, name=name)
    return XmlTokens(encoding, _Reader(name, encoding).tokens(head, file))


def is_well_formed(file: BinaryIO, *, name: str) -> bool:
    """Whether a parser accepts the whole file. Entities and encodings that we refuse are still an `InputError`."""
    head = file.read(CHUNK_BYTES)
    reader = _Reader(name, declared_encoding(head, name=name))
    try:
        reader.check(head, file)
    except NotWellFormed:
        return False
    return True


_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(rb"""^<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")


def declared_encoding(head: bytes, *, name: str) -> str:
    """The encoding of an XML file by its first bytes: a byte order mark, a declaration, or UTF-8."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    for encoding in ("utf-16-le", "utf-16-be"):
        if head.startswith("<?".encode(encoding)):
            return encoding
    match = _DECLARED.match(head)
    try:
        codec = codecs.lookup(match[1].decode("ascii") if match else "utf-8")
        if codec.name != "utf-8" and len(codec.decode(bytes(range(256)), "replace")[0]) != 256:
            raise LookupError
    except LookupError:
        said = match[1].decode("ascii") if match else ""
        raise InputError(
            f"{name} says that it is in the encoding {said!r}, which can't be read here. Save it as UTF-8.",
            field=name,
        ) from None
    return codec.name


def entity_character(reference: str) -> str | None:
    """The character that a named reference like `&nbsp;` stands for in every kind of HTML, or None."""
    return html5.get(reference[1:]) if reference.endswith(";") else None


class _Reader:
    """Expat calls back; what it says is kept with the byte at which it stood until the next call tells the end."""

    def __init__(self, name: str, encoding: str) -> None:
        self.name = name
        self.encoding = encoding
        self.events: list[XmlToken] = [XmlToken("other", b"", 0)]
        self.open: list[XmlElement] = []
        self.literal = False
        self.parser = expat.ParserCreate("utf-8" if encoding == "utf-8" else None)
        self.parser.UseForeignDTD(True)  # or else `&nbsp;` is an error in a file without a DOCTYPE
        self.parser.EntityDeclHandler = self._refuse_entity

    def check(self, head: bytes, file: BinaryIO) -> None:
        """Read all of it and keep nothing."""
        while head:
            self._parse(head, last=False)
            head = file.read(CHUNK_BYTES)
        self._parse(b"", last=True)

    def _listen(self) -> None:
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartCdataSectionHandler = self._open_literal
        self.parser.EndCdataSectionHandler = self._close_literal
        self.parser.DefaultHandler = self._other

    def tokens(self, head: bytes, file: BinaryIO) -> Iterator[XmlToken]:
        self._listen()
        chunk, kept, base = head, b"", 0
        while chunk:
            self._parse(chunk, last=False)
            kept += chunk
            done, self.events = self.events, self.events[-1:]
            yield from _with_bytes(done, kept, base)
            kept, base = kept[self.events[0].at - base :], self.events[0].at
            if len(kept) > MAX_TOKEN_BYTES:
                raise InputError(
                    f"{self.name} has a single tag or comment of more than 8 MB.", field=self.name
                )
            chunk = file.read(CHUNK_BYTES)
        self._parse(b"", last=True)
        yield from _with_bytes([*self.events, XmlToken("other", b"", base + len(kept))], kept, base)

    def _parse(self, chunk: bytes, *, last: bool) -> None:
        try:
            self.parser.Parse(chunk, last)
        except expat.ExpatError as error:
            why = expat.errors.messages.get(error.code, str(error))
            raise NotWellFormed(
                f"{self.name} is not well-formed XML: {why}, at line {error.lineno}, column {error.offset + 1}.",
                field=self.name,
            ) from error

    def _refuse_entity(self, entity: str, *_: object) -> None:
        raise InputError(
            f"{self.name} declares the XML entity {entity!r}. Files that declare entities are not read, since they can "
            "be made to fill the memory or to fetch other files: write out what it stands for.",
            field=self.name,
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        at = self.parser.CurrentByteIndex
        element = XmlElement(name, attributes, at)
        if len(self.open) >= MAX_DEPTH:
            raise InputError(
                f"{self.name} has elements nested more than {MAX_DEPTH:,} deep.", field=self.name
            )
        self.open.append(element)
        self.events.append(XmlToken("start", b"", at, element=element))

    def _end(self, _: str) -> None:
        self.events.append(XmlToken("end", b"", self.parser.CurrentByteIndex, element=self.open.pop()))

    def _text(self, text: str) -> None:
        self.events.append(XmlToken("text", b"", self.parser.CurrentByteIndex, text, literal=self.literal))

    def _open_literal(self) -> None:
        self.literal = True
        self._text("")

    def _close_literal(self) -> None:
        self._text("")
        self.literal = False

    def _other(self, data: str) -> None:
        at = self.parser.CurrentByteIndex
        if not (self.open and data.startswith("&")):
            self.events.append(XmlToken("other", b"", at))
        elif text := entity_character(data):
            self.events.append(XmlToken("text", b"", at, text))
        else:
            self.events.append(XmlToken("entity", b"", at))


def _with_bytes(events: list[XmlToken], kept: bytes, base: int) -> Iterator[XmlToken]:
    """All but the last, each with the bytes up to the next one."""
    for event, following in pairwise(events):
        raw = kept[event.at - base : following.at - base]
        if raw or event.kind in ("start", "end"):
            yield event._replace(raw=raw)
