"""Tokenize XML; the tokens joined are the file, byte for byte.

Tokens come from expat with the bytes they were read from. No DTD is loaded and no entity is expanded: a file that
declares entities is refused, and a reference that only a DTD could define is a separate token.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from html.entities import html5
from itertools import pairwise
from typing import BinaryIO, Literal, NamedTuple
from xml.parsers import expat

from ape.books.text_encodings import find_text_encoding, is_single_byte
from ape.errors import InputError

CHUNK_BYTES = 1 << 16
# Each chunk rereads an unfinished tag or comment from its start, so its length must be limited.
MAX_TOKEN_BYTES = 1 << 23
# No book nests as deep. What looks at the elements around each text takes a time that grows with their number.
MAX_DEPTH = 512
# Attributes with defaults are added to every element of that name: thousands of both would be millions.
MAX_DECLARED_ATTRIBUTES = 100


class NotWellFormed(InputError):
    """The file is not well-formed XML."""


class XmlElement(NamedTuple):
    """A start tag; its offset `at` identifies the element."""

    name: str
    attributes: Mapping[str, str]
    at: int

    def get(self, name: str, default: str = "") -> str:
        """The value of an attribute."""
        return self.attributes.get(name, default)


class XmlToken(NamedTuple):
    """A piece of a file with its bytes.

    - "start" and "end" have an `element`. `<br/>` gives both, the latter without bytes.
    - "text" has its characters in `text`; a character reference is a separate token. `literal` text is in a CDATA
      section, whose two delimiters are literal tokens without text.
    - "entity" is an unknown reference.
    - "other" is a comment, a processing instruction, a declaration or a stray end tag.
    """

    kind: Literal["start", "end", "text", "entity", "other"]
    raw: bytes
    at: int
    text: str = ""
    element: XmlElement | None = None
    literal: bool = False


class XmlTokens(NamedTuple):
    """The tokens of a file, and the encoding for new text."""

    encoding: str
    stream: Iterator[XmlToken]


def read_xml(file: BinaryIO, *, name: str) -> XmlTokens:
    """Read the tokens of a well-formed file. Errors mention `name`; any token may raise `NotWellFormed`."""
    head = file.read(CHUNK_BYTES)
    encoding = declared_encoding(head, name=name)
    return XmlTokens(encoding, _Reader(name, encoding).tokens(head, file))


def is_well_formed(file: BinaryIO, *, name: str) -> bool:
    """Whether the whole file is well-formed. Refused entities and encodings still raise `InputError`."""
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
    """The encoding of an XML file by its byte order mark or declaration; UTF-8 by default."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    for encoding in ("utf-16-le", "utf-16-be"):
        if head.startswith("<?".encode(encoding)):
            return encoding
    match = _DECLARED.match(head)
    declared = match[1].decode("ascii") if match else "utf-8"
    codec = find_text_encoding(declared)
    if codec is None or (codec != "utf-8" and not is_single_byte(codec)):
        raise InputError(
            f"{name} declares the encoding {declared!r}, which is not supported. Save it as UTF-8.", field=name
        )
    return codec


def entity_character(reference: str) -> str | None:
    """The character of a named HTML reference like `&nbsp;`, or None."""
    return html5.get(reference[1:]) if reference.endswith(";") else None


class _Reader:
    """Collects the events of expat; an event ends where the next one begins."""

    def __init__(self, name: str, encoding: str) -> None:
        self.name = name
        self.encoding = encoding
        self.events: list[XmlToken] = [XmlToken("other", b"", 0)]
        self.open: list[XmlElement] = []
        self.literal = False
        self.parser = expat.ParserCreate("utf-8" if encoding == "utf-8" else None)
        self.parser.UseForeignDTD(True)  # otherwise `&nbsp;` is an error in a file without a DOCTYPE
        self.parser.EntityDeclHandler = self._refuse_entity
        self.parser.AttlistDeclHandler = self._count_attribute
        self.declared_attributes = 0

    def check(self, head: bytes, file: BinaryIO) -> None:
        """Parse the whole file without collecting tokens."""
        read = 0
        while head:
            self._parse(head, last=False)
            read += len(head)
            self._check_token(read - self.parser.CurrentByteIndex)
            head = file.read(CHUNK_BYTES)
        self._parse(b"", last=True)

    def _check_token(self, size: int) -> None:
        """Raise where the unfinished tag or comment is too long."""
        if size > MAX_TOKEN_BYTES:
            raise InputError(f"{self.name} has a single tag or comment of more than 8 MB.", field=self.name)

    def _listen(self) -> None:
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartCdataSectionHandler = self._open_literal
        self.parser.EndCdataSectionHandler = self._close_literal
        self.parser.DefaultHandler = self._other

    def tokens(self, head: bytes, file: BinaryIO) -> Iterator[XmlToken]:
        self._listen()
        chunk, buffer, base = head, b"", 0
        while chunk:
            self._parse(chunk, last=False)
            buffer += chunk
            done, self.events = self.events, self.events[-1:]
            yield from _with_bytes(done, buffer, base)
            buffer, base = buffer[self.events[0].at - base :], self.events[0].at
            self._check_token(len(buffer))
            chunk = file.read(CHUNK_BYTES)
        self._parse(b"", last=True)
        yield from _with_bytes([*self.events, XmlToken("other", b"", base + len(buffer))], buffer, base)

    def _parse(self, chunk: bytes, *, last: bool) -> None:
        try:
            self.parser.Parse(chunk, last)
        except expat.ExpatError as error:
            why = expat.errors.messages.get(error.code, str(error))
            raise NotWellFormed(
                f"{self.name} is not well-formed XML: {why}, at line {error.lineno}, column {error.offset + 1}.",
                field=self.name,
            ) from error
        except InputError:
            raise
        except (LookupError, ValueError) as error:
            # A file in UTF-16 may declare another encoding, which expat then asks Python for.
            raise InputError(
                f"{self.name} declares an encoding that is not its own, or not supported. Save it as UTF-8.",
                field=self.name,
            ) from error

    def _refuse_entity(self, entity: str, *_: object) -> None:
        raise InputError(
            f"{self.name} declares the XML entity {entity!r}. Entity declarations are refused, since they can "
            "exhaust the memory or fetch other files. Replace the entity by its text.",
            field=self.name,
        )

    def _count_attribute(self, *_: object) -> None:
        self.declared_attributes += 1
        if self.declared_attributes > MAX_DECLARED_ATTRIBUTES:
            raise InputError(
                f"{self.name} declares more than {MAX_DECLARED_ATTRIBUTES} attributes in its DOCTYPE. Remove them.",
                field=self.name,
            )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        at = self.parser.CurrentByteIndex
        element = XmlElement(name, attributes, at)
        if len(self.open) >= MAX_DEPTH:
            raise InputError(f"{self.name} has elements nested more than {MAX_DEPTH:,} deep.", field=self.name)
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


def _with_bytes(events: list[XmlToken], buffer: bytes, base: int) -> Iterator[XmlToken]:
    """All events but the last, each with the bytes up to the next event."""
    for event, following in pairwise(events):
        raw = buffer[event.at - base : following.at - base]
        if raw or event.kind in ("start", "end"):
            yield event._replace(raw=raw)
