"""Receive a multipart upload: stream its files to disk, hold its fields in memory, and enforce limits on both.

Starlette's form parser spools whole files to a temporary folder before a limit can be checked.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from io import FileIO
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Self

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from ape.books.formats import FORMATS
from ape.errors import ApeError, InputError, TooLong
from ape.ledger.files.formats import NAME_FORMATS
from serve.middleware.problems import Unreadable

MEDIA_TYPE = "multipart/form-data"
SUFFIXES = frozenset(suffix for known in FORMATS.values() for suffix in known.suffixes) | frozenset(
    suffix for known in NAME_FORMATS.values() for suffix in known.suffixes
)
# Transfer encodings that leave the bytes unchanged; RFC 7578 deprecates all others.
_IDENTITY_ENCODINGS = frozenset({"", "7bit", "8bit", "binary"})
MAX_LABEL_CHARACTERS = 200


class NoSpace(ApeError):
    """The disk for uploads is full."""

    status = 507
    title = "Insufficient storage"


@dataclass(frozen=True, slots=True)
class Upload:
    """A received upload: file paths, client file names (labels) and field values, by part name."""

    files: Mapping[str, Path]
    labels: Mapping[str, str]
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """Limits in bytes, for the whole upload and for all fields together."""

    whole: int
    fields: int


async def receive_upload(
    stream: AsyncIterator[bytes],
    folder: Path,
    *,
    content_type: str,
    files: Collection[str],
    fields: Collection[str],
    limits: UploadLimits,
) -> Upload:
    """Read the parts, which must have known names, and write the files to `folder`, named after their parts.

    Raises Unreadable, InputError, TooLong or NoSpace; the caller then removes the folder.
    """
    received = 0
    with _MultipartParts(
        folder, multipart_boundary(content_type), files=files, fields=fields, limit=limits.fields
    ) as parts:
        async for piece in stream:
            received += len(piece)
            if received > limits.whole:
                raise upload_too_large(received, limits.whole)
            parts.parse(piece)
            if parts.to_write or parts.to_close:
                await asyncio.to_thread(parts.write)
        return parts.upload()


def expected_bytes(headers: Mapping[str, str], limit: int) -> int:
    """The size of the upload, or the largest possible one where the client does not say."""
    given = headers.get("content-length", "")
    return int(given) if given.isascii() and given.isdecimal() else limit


def upload_too_large(actual: int, limit: int) -> TooLong:
    """Return the error for an upload over the limit."""
    return TooLong(
        f"The upload is larger than {limit:,} bytes (max_book_bytes). Send the book in parts.",
        actual=actual,
        limit=limit,
    )


def multipart_boundary(content_type: str) -> bytes:
    """Return the boundary between parts, or raise Unreadable."""
    kind, options = parse_options_header(content_type)
    if kind != MEDIA_TYPE.encode():
        raise Unreadable(
            f"The body must be {MEDIA_TYPE}, not {kind.decode('latin-1') or 'of no stated type'}.", status=415
        )
    if not options.get(b"boundary"):
        raise Unreadable("The content type has no boundary.")
    return options[b"boundary"]


@dataclass(slots=True)
class _MultipartPart:
    """The part being read."""

    name: str = ""
    header: str = ""
    value: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    content: bytearray = field(default_factory=bytearray)
    file: FileIO | None = None


class _MultipartParts:
    """Collects parts from the parser. `parse` runs in the event loop, `write` in a thread."""

    def __init__(
        self, folder: Path, boundary: bytes, *, files: Collection[str], fields: Collection[str], limit: int
    ) -> None:
        self.to_write: list[tuple[FileIO, bytes]] = []
        self.to_close: list[FileIO] = []
        self._folder = folder
        self._files: dict[str, Path] = {}
        self._labels: dict[str, str] = {}
        self._fields: dict[str, str] = {}
        self._known = (frozenset(files), frozenset(fields))
        self._bytes_left = self._limit = limit
        self._part = _MultipartPart()
        self._opened: list[FileIO] = []
        self._ended = False
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": self._header_field,
                    "on_header_value": self._header_value,
                    "on_header_end": self._header_end,
                    "on_headers_finished": self._headers_finished,
                    "on_part_data": self._data,
                    "on_part_end": self._end,
                    "on_end": self._finish,
                },
            )
        except FormParserError as error:
            raise Unreadable(f"The boundary is invalid: {error}.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._opened:
            file.close()

    def parse(self, piece: bytes) -> None:
        """Parse the next chunk of the body."""
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise Unreadable(f"The parts can't be read: {error}.") from error

    def write(self) -> None:
        """Write pending data to disk; sync and close the files of finished parts."""
        try:
            for file, pieces in groupby(self.to_write, key=itemgetter(0)):
                _write_all(file, b"".join(piece for _, piece in pieces))
            for file in self.to_close:
                os.fsync(file.fileno())
                file.close()
        except OSError as error:
            raise disk_error(error) from error
        self.to_write.clear()
        self.to_close.clear()

    def upload(self) -> Upload:
        """Return the upload, or raise Unreadable if the final boundary is missing."""
        if not self._ended:
            raise Unreadable("The upload ends before its final boundary.")
        return Upload(self._files, self._labels, self._fields)

    def _begin(self) -> None:
        self._part = _MultipartPart()

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._part.header += data[start:end].decode("latin-1")

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._part.value += data[start:end].decode("latin-1")

    def _header_end(self) -> None:
        self._part.headers[self._part.header.lower()] = self._part.value
        self._part.header = self._part.value = ""

    def _headers_finished(self) -> None:
        part = self._part
        _, options = parse_options_header(part.headers.get("content-disposition"))
        part.name = options.get(b"name", b"").decode("utf-8", "replace")
        files, fields = self._known
        if part.name not in files | fields:
            known = ", ".join(sorted(files | fields))
            raise InputError(f"Unknown part {part.name[:80]!r}. Known parts: {known}.", field=part.name[:80])
        if part.name in self._files or part.name in self._fields:
            raise InputError(f"The part {part.name} occurs twice.", field=part.name)
        if part.headers.get("content-transfer-encoding", "").strip().lower() not in _IDENTITY_ENCODINGS:
            raise InputError(f"The part {part.name} has a transfer encoding. Send its raw bytes.", field=part.name)
        # A name may be of a file or a field: a file has a file name.
        if part.name in files and (part.name not in fields or b"filename" in options):
            self._open(part, options.get(b"filename", b"").decode("utf-8", "replace"))

    def _open(self, part: _MultipartPart, label: str) -> None:
        """Name the file after its part; take only a known suffix from the client's file name."""
        label = "".join(char for char in label.replace("\\", "/").rpartition("/")[2] if char.isprintable())
        suffix = Path(label).suffix.lower()
        path = self._folder / f"{part.name}{suffix if suffix in SUFFIXES else ''}"
        try:
            part.file = FileIO(path, "w")  # unbuffered: closing a buffer can fail again on a full disk
        except OSError as error:
            raise disk_error(error) from error
        self._opened.append(part.file)
        self._files[part.name] = path
        self._labels[part.name] = label[-MAX_LABEL_CHARACTERS:] or part.name

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._part.file:
            self.to_write.append((self._part.file, data[start:end]))
            return
        self._bytes_left -= end - start
        if self._bytes_left < 0:
            raise TooLong(
                f"The fields are longer than {self._limit:,} bytes in total.",
                actual=self._limit - self._bytes_left,
                limit=self._limit,
                field=self._part.name,
            )
        self._part.content += data[start:end]

    def _end(self) -> None:
        part = self._part
        if part.file:
            self.to_close.append(part.file)
            return
        try:
            self._fields[part.name] = part.content.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"The field {part.name} is not valid UTF-8.", field=part.name) from error

    def _finish(self) -> None:
        self._ended = True


def _write_all(file: FileIO, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]


def disk_error(error: OSError) -> ApeError:
    """Convert an OSError of the upload folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return NoSpace("The disk for uploads is full. The upload was discarded; try again later.")
    return ApeError(f"The upload can't be written to disk: {error.strerror}. It was discarded.")
