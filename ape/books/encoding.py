"""The encoding of a text file: detected, or named by the caller where detection is ambiguous.

In this order: a byte order mark, valid UTF-8, the caller's choice, then `ape.books.encoding_detection`. Lines keep
their bytes next to their text, so that unedited lines are written unchanged.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import AnyStr, BinaryIO

from ape.books.encoding_detection import guess_encodings
from ape.books.text_encodings import find_text_encoding
from ape.errors import InputError

_CHUNK = 1 << 16
_SAMPLE = 1 << 17

# The longer marks first: the mark of UTF-32-LE begins with that of UTF-16-LE.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Names without a byte order, and their meaning in files without a byte order mark.
_WITHOUT_ORDER = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}

# ASCII replacements of typographic characters, for encodings that lack them.
_ASCII_FORMS = str.maketrans(
    {
        "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "‹": "'",
        "›": "'", "–": "-", "—": "--", "―": "--", "‐": "-", "‑": "-", "−": "-", "…": "...", "•": "*",
        "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u200b": "", "\u00ad": "", "œ": "oe", "Œ": "OE", "\ufffd": "?",
    }
)  # fmt: skip

# A model's JSON may contain lone surrogates, which no encoding can represent.
_SURROGATES = re.compile("[\ud800-\udfff]")
_TEXT_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


@dataclass(frozen=True, slots=True)
class Encoding:
    """A codec's name, and the byte order mark of the file."""

    name: str
    bom: bytes = b""

    def encode(self, text: str, *, place: str, references: bool = False) -> bytes:
        """Encode new text for the file. Quotes and dashes that the encoding lacks become ASCII.

        With `references`, missing characters are written as `&#8220;` instead. Otherwise a character without an ASCII
        form raises InputError, which names the `place`.
        """
        if references:
            return _SURROGATES.sub("\ufffd", text).encode(self.name, "xmlcharrefreplace")
        try:
            return self.fit_text(text).encode(self.name)
        except InputError as error:
            raise InputError(f"{place}: {error}") from error

    def fit_text(self, text: str) -> str:
        """Replace characters that the encoding lacks by ASCII; raises InputError where that is impossible."""
        text = _SURROGATES.sub("\ufffd", text)
        if self.can_encode(text):
            return text
        plain = "".join(char if self.can_encode(char) else char.translate(_ASCII_FORMS) for char in text)
        try:
            plain.encode(self.name)
        except UnicodeEncodeError as error:
            char = error.object[error.start]
            raise InputError(
                f"The new text has {char!r} (U+{ord(char):04X}), which the file's encoding, {self.name}, lacks. "
                "Convert the file to UTF-8 and run the job again: finished work is kept."
            ) from error
        return plain

    def can_encode(self, text: str) -> bool:
        """Whether the encoding can represent this text."""
        try:
            text.encode(self.name)
        except UnicodeEncodeError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class FileLine:
    """A line of a file: its text, its line end ("" at the end of the file), and the bytes of both."""

    text: str
    end: str
    raw: bytes


def find_encoding(path: Path, *, encoding: str | None = None) -> Encoding:
    """Detect the encoding of a text file and check that all of it can be decoded.

    `encoding` is used for files without a byte order mark that are not UTF-8. Raises InputError where the file is not
    text, is not in that encoding, or could be in several.
    """
    bom, marked = _read_bom(path)
    named = _codec_name(encoding) if encoding is not None else ""
    if bom:
        found = Encoding(marked, bom)
    elif named and not _is_utf8(path, named):
        found = Encoding(named)
    else:
        return _detect(path)
    _check(path, found)
    return found


def _is_utf8(path: Path, named: str) -> bool:
    """Whether the file is valid UTF-8, so that the named encoding is ignored."""
    if _first_invalid_byte(path, Encoding("utf-8")) is not None or _has_nul(path):
        return False
    # ASCII text is valid in every encoding but UTF-16 and UTF-32.
    return named.startswith(("utf-16", "utf-32")) or not _is_ascii(path)


def _detect(path: Path) -> Encoding:
    if _has_nul(path):
        raise InputError(
            f"{path.name} has NUL bytes: it is not a text file, or it is UTF-16 without a byte order mark. "
            "In that case, set the encoding to utf-16-le.",
            field="encoding",
        )
    if _first_invalid_byte(path, Encoding("utf-8")) is None:
        return Encoding("utf-8")
    return _guess(path)


def read_lines(path: Path, encoding: Encoding) -> Iterator[FileLine]:
    """Stream the lines of a file. LF, CRLF and CR end a line, even mixed."""
    with path.open("rb") as file:
        file.seek(len(encoding.bom))
        if "\r\n".encode(encoding.name) == b"\r\n":
            for raw in _byte_lines(file):
                yield _line(raw.decode(encoding.name), raw)
        else:
            for text in _text_lines(file, encoding):
                yield _line(text, text.encode(encoding.name))


def _line(text: str, raw: bytes) -> FileLine:
    stripped = text.rstrip("\r\n")
    return FileLine(stripped, text[len(stripped) :], raw)


def _byte_lines(file: BinaryIO) -> Iterator[bytes]:
    for block in _line_blocks(iter(lambda: file.read(_CHUNK), b""), ends=(b"\n", b"\r")):
        yield from block.splitlines(keepends=True)


def _text_lines(file: BinaryIO, encoding: Encoding) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding.name)()
    chunks = (decoder.decode(chunk, final=not chunk) for chunk in chain(iter(lambda: file.read(_CHUNK), b""), [b""]))
    for block in _line_blocks(chunks, ends=("\n", "\r")):
        yield from _TEXT_LINE.findall(block)


def _line_blocks(chunks: Iterable[AnyStr], *, ends: tuple[AnyStr, AnyStr]) -> Iterator[AnyStr]:
    """Join chunks to blocks of whole lines. Each chunk is searched once, however long a line is."""
    newline, carriage = ends
    nothing = newline[:0]
    waiting: list[AnyStr] = []  # the start of a line
    held = nothing  # a CR at the end of a chunk may be half of a CRLF
    for chunk in chunks:
        text = held + chunk
        held = carriage if text.endswith(carriage) else nothing
        text = text[: len(text) - len(held)]
        cut = max(text.rfind(newline), text.rfind(carriage)) + 1
        if cut:
            waiting.append(text[:cut])
            yield nothing.join(waiting)
            waiting.clear()
        waiting.append(text[cut:])
    waiting.append(held)
    yield nothing.join(waiting)


def _read_bom(path: Path) -> tuple[bytes, str]:
    with path.open("rb") as file:
        start = file.read(4)
    return next(((bom, name) for bom, name in _BOMS if start.startswith(bom)), (b"", ""))


def _codec_name(encoding: str) -> str:
    name = find_text_encoding(encoding)
    if name is None:
        raise InputError(
            f"{encoding[:40]!r} is not a known text encoding. Examples: utf-8, cp1252, gb18030, shift_jis.",
            field="encoding",
        )
    return _WITHOUT_ORDER.get(name, name)


def _check(path: Path, encoding: Encoding) -> None:
    failure = _first_invalid_byte(path, encoding)
    if failure is not None:
        raise InputError(
            f"{path.name} is not {encoding.name}: the byte at {failure:,} can't be decoded. "
            "Set its encoding, or convert the file to UTF-8.",
            field="encoding",
        )


def _first_invalid_byte(path: Path, encoding: Encoding) -> int | None:
    """The offset of the first byte that can't be decoded, or None."""
    decoder = codecs.getincrementaldecoder(encoding.name)()
    with path.open("rb") as file:
        file.seek(len(encoding.bom))
        done = len(encoding.bom)
        while True:
            chunk = file.read(_CHUNK)
            waiting = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return done - waiting + error.start
            if not chunk:
                return None
            done += len(chunk)


def _has_nul(path: Path) -> bool:
    return any(b"\0" in chunk for chunk in _chunks(path))


def _is_ascii(path: Path) -> bool:
    return all(chunk.isascii() for chunk in _chunks(path))


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from iter(lambda: file.read(_CHUNK), b"")


def _guess(path: Path) -> Encoding:
    found = guess_encodings(_sample(path), lambda name: _first_invalid_byte(path, Encoding(name)) is None)
    if len(found) == 1:
        return Encoding(found[0].encoding)
    readings = "; ".join(f"{guess.encoding} reads “{guess.sample_word(found)}”" for guess in found[:4])
    candidates = f" Candidates: {readings}." if found else ""
    raise InputError(
        f"{path.name} is not UTF-8, and its encoding can't be detected reliably.{candidates} Set its encoding.",
        field="encoding",
    )


def _sample(path: Path) -> bytes:
    """Whole lines of the file from its first non-ASCII byte."""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if not chunk.isascii():
                first = next(at for at, byte in enumerate(chunk) if byte > 127)
                start = max(chunk.rfind(end, 0, first) for end in (b"\n", b"\r", b" ")) + 1
                sample = chunk[start:] + file.read(_SAMPLE)
                cut = max(sample.rfind(b"\n"), sample.rfind(b"\r"))
                return sample[:cut] if len(sample) > _SAMPLE and cut > 0 else sample
    return b""
