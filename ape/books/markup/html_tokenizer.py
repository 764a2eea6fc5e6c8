"""Tokenize HTML, valid or not; the tokens joined are the file, byte for byte.

Unclosed elements are closed where a browser would close them, by end tags without bytes, so that elements are always
nested. Nothing else is repaired: a stray end tag is passed on.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator
from typing import BinaryIO

from ape.books.markup.xml_tokenizer import CHUNK_BYTES, XmlElement, XmlToken, XmlTokens
from ape.errors import InputError

# As in browsers: deeper elements are treated as empty.
MAX_DEPTH = 512
VOID_ELEMENTS = frozenset("area base br col embed hr img input link meta param source track wbr".split())
RAW_TEXT_ELEMENTS = frozenset("script style textarea title xmp iframe noembed noframes plaintext".split())
# Possessive quantifiers, and `<` ends a broken tag, so that every file is read in linear time.
_QUOTED = r"""(?:"[^"]*+"|'[^']*+')"""
_TAG = rf"""<(?P<close>/?)(?P<name>[A-Za-z][^\s/<>]*+)(?:[^<>"'=]++|=\s*+{_QUOTED}?+|["'])*+>"""
_MARKUP = re.compile(rf"{_TAG}|<!--(?:-?>|.*?--!?>)|<(?!!--)[!?][^>]*+>", re.DOTALL)
# Possibly mark-up, once more is read.
_UNFINISHED = re.compile(rf"""<(?:[!?].*|/?(?:[A-Za-z](?:[^<>"'=]++|=\s*+{_QUOTED}?+)*+(?:["'].*)?)?)\Z""", re.DOTALL)
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+)))?""")
_BARE_SLASH = re.compile(r"""=\s*[^\s"'>]+/$""")
_TEXT = re.compile(
    r"&(?:#\d{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{1,31};)|[\udc80-\udcff]|[^&\udc80-\udcff]+|&"
)

# An unclosed element ends where one of these begins, or where its parent ends.
_PARAGRAPH_ENDS = frozenset(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 "
    "h4 h5 h6 header hgroup hr main menu nav ol p pre section table ul li dd dt tr td th tbody thead tfoot".split()
)
_ENDED_BY = {
    "p": _PARAGRAPH_ENDS,
    "li": frozenset(["li"]),
    "dt": frozenset(["dt", "dd"]),
    "dd": frozenset(["dt", "dd"]),
    "tr": frozenset(["tr", "tbody", "thead", "tfoot"]),
    "td": frozenset(["td", "th", "tr", "tbody", "thead", "tfoot"]),
    "th": frozenset(["td", "th", "tr", "tbody", "thead", "tfoot"]),
    "thead": frozenset(["tbody", "tfoot"]),
    "tbody": frozenset(["tbody", "tfoot"]),
    "option": frozenset(["option", "optgroup"]),
    "rt": frozenset(["rt", "rp", "rb"]),
    "rp": frozenset(["rt", "rp", "rb"]),
    "head": frozenset(["body"]),
}
# The same by the name of what begins.
_ENDS = {
    name: tuple(ended for ended, by in _ENDED_BY.items() if name in by)
    for name in frozenset[str]().union(*_ENDED_BY.values())
}
_ROWS = frozenset("tr tbody thead tfoot".split())
# Tags inside of these elements do not close elements outside of them.
_SCOPES = frozenset("table td th ul ol dl ruby select body html button object svg math".split())


def read_html_tokens(file: BinaryIO, encoding: str) -> XmlTokens:
    """Read the tokens of an HTML file; bytes that are invalid in the encoding are preserved."""
    return XmlTokens(_plain(encoding), _HtmlTokenizer(file, encoding).tokens())


def _plain(encoding: str) -> str:
    return {"utf-8-sig": "utf-8"}.get(encoding, encoding)


class _OpenElements:
    """The open elements, with the places of each name, so that looking for one takes the same time at any depth."""

    def __init__(self) -> None:
        self._elements: list[XmlElement] = []
        self._places: dict[str, list[int]] = {}
        self._scopes = [-1]
        self._blocks = [-1]

    def __len__(self) -> int:
        return len(self._elements)

    @property
    def innermost(self) -> XmlElement:
        return self._elements[-1]

    @property
    def last_scope(self) -> int:
        """The place of the innermost scope, or -1."""
        return self._scopes[-1]

    @property
    def last_block(self) -> int:
        """The place of the innermost block, or -1."""
        return self._blocks[-1]

    def last(self, name: str) -> int:
        """The place of the innermost element of that name, or -1."""
        places = self._places.get(name)
        return places[-1] if places else -1

    def push(self, element: XmlElement) -> None:
        for places in self._lists(element.name):
            places.append(len(self._elements))
        self._elements.append(element)

    def pop(self) -> XmlElement:
        element = self._elements.pop()
        for places in self._lists(element.name):
            places.pop()
        return element

    def _lists(self, name: str) -> Iterator[list[int]]:
        yield self._places.setdefault(name, [])
        if name in _SCOPES:
            yield self._scopes
        if name in _PARAGRAPH_ENDS:
            yield self._blocks


class _HtmlTokenizer:
    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self.file = file
        self.encoding = _plain(encoding)
        # UTF-16 and UTF-32 can't preserve invalid bytes: they are refused.
        errors = "strict" if self.encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
        self.decoder = codecs.getincrementaldecoder(self.encoding)(errors)
        self.text = ""
        self.position = 0  # in `text`
        self.at = 0  # in the file
        self.ended = False
        self.open = _OpenElements()

    def tokens(self) -> Iterator[XmlToken]:
        if self._more() and self.text[0] == "\ufeff":
            yield self._other(1)
        while self._more():
            if self.text[self.position] == "<":
                yield from self._markup()
            else:
                yield from self._words(self._until("<"))
        while len(self.open):
            yield self._implied_end()

    def _more(self) -> bool:
        """Whether text is left; refills the buffer where little is left."""
        while len(self.text) - self.position < CHUNK_BYTES // 4 and not self.ended:
            self._read()
        return self.position < len(self.text)

    def _read(self) -> None:
        """Read more: as much again as is waiting, since what is unfinished is searched again from its start."""
        data = self.file.read(max(CHUNK_BYTES, len(self.text) - self.position))
        self.ended = not data
        try:
            new = self.decoder.decode(data, final=self.ended)
        except UnicodeDecodeError as error:
            raise InputError(f"The document is not {self.encoding}: {error.reason}.", field="encoding") from error
        self.text = self.text[self.position :] + new
        self.position = 0

    def _until(self, sign: str) -> int:
        """The end of the text before the next `sign`; a long text may end earlier, but not within a reference."""
        end = self.text.find(sign, self.position + 1)
        if end >= 0:
            return end
        if self.ended:
            return len(self.text)
        reference = self.text.rfind("&", len(self.text) - 40)
        return reference if reference > self.position else len(self.text)

    def _take(self, end: int) -> bytes:
        raw = self.text[self.position : end].encode(self.encoding, "surrogateescape")
        self.position = end
        self.at += len(raw)
        return raw

    def _words(self, end: int) -> Iterator[XmlToken]:
        for match in _TEXT.finditer(self.text[self.position : end]):
            piece, at = match.group(), self.at
            raw = self._take(self.position + len(piece))
            yield XmlToken("text", raw, at, _resolve(piece))

    def _markup(self) -> Iterator[XmlToken]:
        match = _MARKUP.match(self.text, self.position)
        while not match and not self.ended and _UNFINISHED.match(self.text, self.position):
            self._read()
            match = _MARKUP.match(self.text, self.position)
        if not match and self.text[self.position + 1 : self.position + 2] in ("!", "?"):
            yield self._other(len(self.text))  # a comment that never ends
        elif not match:
            yield from self._words(self._until("<"))
        elif not match["name"]:
            yield self._other(match.end())
        elif match["close"]:
            yield from self._close(match)
        else:
            yield from self._start(match)

    def _other(self, end: int) -> XmlToken:
        at = self.at
        return XmlToken("other", self._take(end), at)

    def _start(self, match: re.Match[str]) -> Iterator[XmlToken]:
        name = match["name"].lower()
        while self._ends(name):
            yield self._implied_end()
        element = XmlElement(name, _attributes(match), self.at)
        yield XmlToken("start", self._take(match.end()), element.at, element=element)
        if name in VOID_ELEMENTS or _is_empty(match) or len(self.open) >= MAX_DEPTH:
            yield XmlToken("end", b"", self.at, element=element)
            return
        self.open.push(element)
        if name in RAW_TEXT_ELEMENTS:
            yield from self._raw(name)

    def _ends(self, name: str) -> bool:
        """Whether an element of this name ends one that is open, inside of the nearest scope."""
        nearest = max((self.open.last(ended) for ended in _ENDS.get(name, ())), default=-1)
        return nearest >= 0 and nearest >= self.open.last_scope

    def _raw(self, name: str) -> Iterator[XmlToken]:
        """The content of an element without mark-up, such as <script>."""
        closing = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
        while not (match := closing.search(self.text, self.position)) and not self.ended:
            self._read()
        end = match.start() if match else len(self.text)
        if name in ("title", "textarea"):
            yield from self._words(end)
        elif end > self.position:
            yield self._other(end)

    def _close(self, match: re.Match[str]) -> Iterator[XmlToken]:
        name = match["name"].lower()
        if not self._is_open(name):
            yield self._other(match.end())
            return
        while self.open.innermost.name != name:
            yield self._implied_end()
        at = self.at
        yield XmlToken("end", self._take(match.end()), at, element=self.open.pop())

    def _is_open(self, name: str) -> bool:
        """Whether an end tag closes an open element. End tags of inline elements do not close blocks."""
        nearest = self.open.last(name)
        if nearest < 0 or name in _ROWS or name in _SCOPES:
            return nearest >= 0
        is_block = name in _PARAGRAPH_ENDS
        return nearest >= max(self.open.last_scope, -1 if is_block else self.open.last_block)

    def _implied_end(self) -> XmlToken:
        return XmlToken("end", b"", self.at, element=self.open.pop())


def _resolve(piece: str) -> str:
    """A piece of text with its reference resolved."""
    if "\udc80" <= piece[0] <= "\udcff":
        return "\ufffd"
    return html.unescape(piece) if piece[0] == "&" else piece


def _is_empty(match: re.Match[str]) -> bool:
    """Whether a tag ends in "/>", which browsers ignore but authors mean."""
    return match.group().endswith("/>") and not _BARE_SLASH.search(match.group()[:-1])


def _attributes(match: re.Match[str]) -> dict[str, str]:
    inside = match.group()[1 + len(match["name"]) : -1]
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(inside):
        found.setdefault(name.lower(), html.unescape(double or single or bare))
    return found
