"""The encoding of a text file: read from the file or asked for, never guessed where two guesses are as good.

A byte order mark decides, then whether everything is UTF-8, then charset-normalizer. Single-byte encodings of one
region look alike; so where its best answers read differently, the caller is asked to name one. What was read is kept
as bytes beside its text, line by line, so that what nobody edits is written as it was.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from charset_normalizer import CharsetMatch, from_bytes

from ape.errors import InputError

_CHUNK = 1 << 16
_SAMPLE = 1 << 17

# The longer marks first: that of UTF-32 begins with that of UTF-16.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Names that leave the byte order to a mark, and what they mean where there is none.
_WITHOUT_ORDER = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}

# What books come in. The others in charset-normalizer's list tie with these on short texts and are hardly ever right.
_COMMON = frozenset(
    "cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 iso8859_1 iso8859_2 iso8859_5 iso8859_7 "
    "iso8859_8 iso8859_9 iso8859_15 latin_1 koi8_r koi8_u gb18030 gbk gb2312 big5 cp950 big5hkscs cp932 shift_jis "
    "euc_jp euc_jis_2004 iso2022_jp cp949 euc_kr tis_620 cp874 cp866".split()
)
# Of charset-normalizer's measures, how far behind the best an answer is that has to be taken seriously.
_CHAOS_APART = 0.03
_COHERENCE_APART = 0.15
_CHAOS_LIMIT = 0.15

# Typographic characters and what they look like on a typewriter, for files that can't hold them.
_PLAIN = str.maketrans(
    {
        "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "‹": "'",
        "›": "'", "–": "-", "—": "--", "―": "--", "‐": "-", "‑": "-", "−": "-", "…": "...", "•": "*",
        "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u200b": "", "\u00ad": "", "œ": "oe", "Œ": "OE", "\ufffd": "?",
    }
)  # fmt: skip

# A model's JSON may hold half of a surrogate pair, which no encoding holds.
_HALVES = re.compile("[\ud800-\udfff]")
_TEXT_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file's bytes are read: a codec's name, and the byte order mark the file begins with."""

    name: str
    bom: bytes = b""

    def encode(self, text: str, *, place: str, references: bool = False) -> bytes:
        """New text for the file. Quotes and dashes that it can't hold become those of a typewriter.

        With `references`, what it can't hold is written as `&#8220;` instead. Without, a character that has no plain
        form is an InputError that names the `place`.
        """
        text = _HALVES.sub("\ufffd", text)
        if self.holds(text):
            return text.encode(self.name)
        if references:
            return text.encode(self.name, "xmlcharrefreplace")
        plain = "".join(char if self.holds(char) else char.translate(_PLAIN) for char in text)
        try:
            return plain.encode(self.name)
        except UnicodeEncodeError as error:
            char = error.object[error.start]
            raise InputError(
                f"{place}: the new text has {char!r} (U+{ord(char):04X}), which the file's encoding, {self.name}, "
                "can't hold. Convert the file to UTF-8 and run the same command again: finished work is kept."
            ) from error

    def holds(self, text: str) -> bool:
        """Whether the file can hold this text as it is."""
        try:
            text.encode(self.name)
        except UnicodeEncodeError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file: its text, its line end ("" at the end of the file) and both as the bytes that stand there."""

    text: str
    end: str
    raw: bytes


def find_encoding(path: Path, *, encoding: str | None = None) -> Encoding:
    """The encoding of a text file, and proof that all of it can be read that way.

    `encoding` is the caller's word on it. Raises InputError where the file is no text, is not in that encoding, or may
    be in any of several.
    """
    bom, marked = _mark(path)
    named = _known(encoding) if encoding is not None else marked
    if bom and named not in (marked, *_loosely(marked)):
        raise InputError(
            f"{path.name} begins with the byte order mark of {marked}, and is said to be {named}. "
            "Leave --encoding out, or remove the mark.",
            field="encoding",
        )
    if bom or named:
        found = Encoding(marked or named, bom)
        _check(path, found)
        return found
    if _binary(path):
        raise InputError(
            f"{path.name} has NUL bytes: it is not a text file, or it is UTF-16 without a byte order mark. "
            "In that case, name the encoding: --encoding utf-16-le.",
            field="encoding",
        )
    if _failure(path, Encoding("utf-8")) is None:
        return Encoding("utf-8")
    return _guess(path)


def lines(path: Path, encoding: Encoding) -> Iterator[Line]:
    """The lines of a file in a stream. LF, CRLF and CR end a line, also side by side in one file."""
    with path.open("rb") as file:
        file.seek(len(encoding.bom))
        if "\r\n".encode(encoding.name) == b"\r\n":
            for raw in _byte_lines(file):
                yield _line(raw.decode(encoding.name), raw)
        else:
            for text in _text_lines(file, encoding):
                yield _line(text, text.encode(encoding.name))


def _line(text: str, raw: bytes) -> Line:
    stripped = text.rstrip("\r\n")
    return Line(stripped, text[len(stripped) :], raw)


def _byte_lines(file: BinaryIO) -> Iterator[bytes]:
    rest = b""
    while chunk := file.read(_CHUNK):
        rest += chunk
        # A CR at the very end may be half of a CRLF, so it waits for what comes.
        cut = max(rest.rfind(b"\n"), rest.rfind(b"\r", 0, len(rest) - 1)) + 1
        yield from rest[:cut].splitlines(keepends=True)
        rest = rest[cut:]
    yield from rest.splitlines(keepends=True)


def _text_lines(file: BinaryIO, encoding: Encoding) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding.name)()
    rest = ""
    while chunk := file.read(_CHUNK):
        rest += decoder.decode(chunk)
        cut = max(rest.rfind("\n"), rest.rfind("\r", 0, len(rest) - 1)) + 1
        yield from _TEXT_LINE.findall(rest[:cut])
        rest = rest[cut:]
    yield from _TEXT_LINE.findall(rest + decoder.decode(b"", final=True))


def _mark(path: Path) -> tuple[bytes, str]:
    with path.open("rb") as file:
        start = file.read(4)
    return next(((bom, name) for bom, name in _BOMS if start.startswith(bom)), (b"", ""))


def _loosely(marked: str) -> set[str]:
    """What a caller who does not think of the byte order may call a marked encoding."""
    return {meant for name, meant in _WITHOUT_ORDER.items() if marked.startswith(name.removesuffix("-sig"))}


def _known(encoding: str) -> str:
    try:
        info = codecs.lookup(encoding)
        "".encode(info.name)
    except (LookupError, UnicodeError, ValueError) as error:
        raise InputError(
            f"{encoding[:40]!r} is no text encoding that is known here. Examples: utf-8, cp1252, gb18030, shift_jis.",
            field="encoding",
        ) from error
    return _WITHOUT_ORDER.get(info.name, info.name)


def _check(path: Path, encoding: Encoding) -> None:
    failure = _failure(path, encoding)
    if failure is not None:
        raise InputError(
            f"{path.name} is not {encoding.name}: the byte at {failure:,} can't be read that way. "
            "Name its encoding with --encoding, or convert it to UTF-8.",
            field="encoding",
        )


def _failure(path: Path, encoding: Encoding) -> int | None:
    """Where the file can't be read in this encoding: the offset of a byte, or None."""
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


def _binary(path: Path) -> bool:
    with path.open("rb") as file:
        return any(b"\0" in chunk for chunk in iter(lambda: file.read(_CHUNK), b""))


def _guess(path: Path) -> Encoding:
    matches = [match for match in from_bytes(_sample(path)) if match.chaos <= _CHAOS_LIMIT]
    common = [match for match in matches if _COMMON.intersection(match.could_be_from_charset)]
    fitting = [match for match in common or matches if _failure(path, Encoding(_name(match))) is None]
    near = [match for match in fitting if _near(match, fitting[0])]
    if len(near) == 1:
        return Encoding(_name(near[0]))
    shown = "; ".join(f"{_name(match)} reads “{_telling(match)}”" for match in near[:4])
    candidates = f" It may be in one of these: {shown}." if near else ""
    raise InputError(
        f"{path.name} is not UTF-8, and its encoding can't be told for certain.{candidates} "
        "Name it with --encoding NAME.",
        field="encoding",
    )


def _near(match: CharsetMatch, best: CharsetMatch) -> bool:
    return match.chaos <= best.chaos + _CHAOS_APART and match.coherence >= best.coherence - _COHERENCE_APART


def _name(match: CharsetMatch) -> str:
    """Of the encodings that read alike, the one that files are in."""
    alike = match.could_be_from_charset
    return next((name for name in alike if name in _COMMON), match.encoding)


def _telling(match: CharsetMatch) -> str:
    """A word by which a reader sees whether the encoding is right."""
    words = re.findall(r"[^\W\d_]*[^\W\d_\x00-\x7f][^\W\d_]*", str(match))
    return max(words[:50], key=len, default="…")[:20]


def _sample(path: Path) -> bytes:
    """A part of the file that has something to tell: from its first byte beyond ASCII, whole lines."""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if not chunk.isascii():
                first = next(at for at, byte in enumerate(chunk) if byte > 127)
                start = max(chunk.rfind(end, 0, first) for end in (b"\n", b"\r", b" ")) + 1
                sample = chunk[start:] + file.read(_SAMPLE)
                cut = max(sample.rfind(b"\n"), sample.rfind(b"\r"))
                return sample[:cut] if len(sample) > _SAMPLE and cut > 0 else sample
    return b""
