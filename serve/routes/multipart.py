"""Take an upload: its files go to disk as they come, its fields are kept, and no more of either than allowed.

Not Starlette's form parser: that one spools files to a temporary place of its own, whole, before anybody can count.
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
from serve.middleware.problems import Unreadable

MEDIA_TYPE = "multipart/form-data"
SUFFIXES = frozenset(suffix for known in FORMATS.values() for suffix in known.suffixes)
# As far as a part's bytes are themselves; encodings of a part are long out of use.
_AS_IT_IS = frozenset({"", "7bit", "8bit", "binary"})
MAX_LABEL_CHARACTERS = 200


class NoSpace(ApeError):
    """The disk of the uploads is full."""

    status = 507
    title = "No room for the book"


@dataclass(frozen=True, slots=True)
class Upload:
    """What came: files by the name of their part, the names that the sender calls them by, and the fields."""

    files: Mapping[str, Path]
    labels: Mapping[str, str]
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """How much may come, in bytes: all of it, and all fields together."""

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
    """Read the parts of these names; the files are in `folder` then, under names of ours.

    Raises Unreadable, InputError, TooLong or NoSpace; whatever it raises, what is in the folder is of no use.
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


def upload_too_large(actual: int, limit: int) -> TooLong:
    """More came, or is to come, than may."""
    return TooLong(
        f"The upload is larger than {limit:,} bytes (max_book_bytes). Send the book in parts.",
        actual=actual,
        limit=limit,
    )


def multipart_boundary(content_type: str) -> bytes:
    """What separates the parts."""
    kind, options = parse_options_header(content_type)
    if kind != MEDIA_TYPE.encode():
        raise Unreadable(
            f"The body is to be {MEDIA_TYPE}, not {kind.decode('latin-1') or 'of no stated type'}.",
            status=415,
        )
    if not options.get(b"boundary"):
        raise Unreadable("The content type has no boundary, so the parts can't be told apart.")
    return options[b"boundary"]


@dataclass(slots=True)
class _MultipartPart:
    """The part that is being read."""

    name: str = ""
    header: str = ""
    value: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    content: bytearray = field(default_factory=bytearray)
    file: FileIO | None = None


class _MultipartParts:
    """The parts, as the parser finds them. It is called in the event loop, and `write` in a thread."""

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
        self._room = self._limit = limit
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
                    "on_end": self._all,
                },
            )
        except FormParserError as error:
            raise Unreadable(f"The parts can't be told apart: {error}.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._opened:
            file.close()

    def parse(self, piece: bytes) -> None:
        """Find what is in the next piece of the body."""
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise Unreadable(f"The parts can't be read: {error}.") from error

    def write(self) -> None:
        """Put on disk what was found, in full where a part has ended."""
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
        """All of it, once the last boundary has come."""
        if not self._ended:
            raise Unreadable("The upload breaks off before its last boundary.")
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
            raise InputError(
                f"There is no part {part.name[:80]!r}. There are: {known}.", field=part.name[:80]
            )
        if part.name in self._files or part.name in self._fields:
            raise InputError(f"The part {part.name} is there twice.", field=part.name)
        if part.headers.get("content-transfer-encoding", "").strip().lower() not in _AS_IT_IS:
            raise InputError(f"The part {part.name} is encoded. Send its bytes as they are.", field=part.name)
        if part.name in files:
            self._open(part, options.get(b"filename", b"").decode("utf-8", "replace"))

    def _open(self, part: _MultipartPart, label: str) -> None:
        """Name the file after its part: only a known suffix is taken from the sender's file name."""
        label = "".join(one for one in label.replace("\\", "/").rpartition("/")[2] if one.isprintable())
        suffix = Path(label).suffix.lower()
        path = self._folder / f"{part.name}{suffix if suffix in SUFFIXES else ''}"
        try:
            part.file = FileIO(
                path, "w"
            )  # no buffer, which could fail of a full disk once more when it is closed
        except OSError as error:
            raise disk_error(error) from error
        self._opened.append(part.file)
        self._files[part.name] = path
        self._labels[part.name] = label[-MAX_LABEL_CHARACTERS:] or part.name

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._part.file:
            self.to_write.append((self._part.file, data[start:end]))
            return
        self._room -= end - start
        if self._room < 0:
            raise TooLong(
                f"The fields are longer than {self._limit:,} bytes together.",
                actual=self._limit - self._room,
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
            raise InputError(f"The field {part.name} is not in UTF-8.", field=part.name) from error

    def _all(self) -> None:
        self._ended = True


def _write_all(file: FileIO, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]


def disk_error(error: OSError) -> ApeError:
    """What the disk says, in our words."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return NoSpace("The disk for uploads is full. Nothing of the upload was kept; try again later.")
    return ApeError(f"The upload can't be written to disk: {error.strerror}. Nothing of it was kept.")
