"""Untrusted zip archives: read with limits, and rewritten so that unchanged entries keep every byte.

`zipfile` only reads here: it can't reproduce an archive (order, extra fields, flags, bytes between entries). So
`rewrite` copies the original bytes and creates new ones for changed entries and moved offsets.
"""

from __future__ import annotations

import io
import re
import shutil
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, BinaryIO

from ape.errors import InputError, TooLong

CHUNK = 1 << 16
MAX_ENTRIES = 20_000
MAX_TOTAL_BYTES = 2 << 30
# Text compresses to a third, zeros to a thousandth. Small archives are harmless at any ratio.
MAX_RATIO = 100
RATIO_MIN_BYTES = 100 << 20
MAX_MEMORY_BYTES = 4 << 20

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END_64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR_64 = struct.Struct("<4sIQI")
_HUGE = 0xFFFFFFFF
_HAS_DESCRIPTOR = 0x08
_ENCRYPTED = 0x41
_BAD_NAME = re.compile(r"^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)|\x00")

EntryContent = Callable[[str], BinaryIO | None]


class Archive:
    """A zip file that passed the safety checks. Use it in a `with` statement."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb")
        try:
            self._zip = zipfile.ZipFile(self._file)
            self._entries = {info.filename: info for info in self._zip.infolist()}
            self._check(self._zip.infolist())
        except (zipfile.BadZipFile, NotImplementedError, struct.error, UnicodeDecodeError) as error:
            self._file.close()
            raise InputError(f"{path.name} is not a zip file, or it is damaged: {error}.") from error
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._file.close()

    @property
    def names(self) -> list[str]:
        """The names of all entries, in the order of the directory."""
        return list(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def size(self, name: str) -> int:
        """The size of an entry."""
        return self._entries[name].file_size

    def open(self, name: str) -> BinaryIO:
        """Open the content of an entry as a stream."""
        if name not in self._entries:
            raise InputError(f"{self.path.name} has no entry {name!r}.")
        return io.BufferedReader(_EntryStream(self._zip, self._entries[name], self.path.name), CHUNK)

    def read(self, name: str, *, limit: int = 16 << 20) -> bytes:
        """Read the whole content of a small entry."""
        if name in self._entries and self.size(name) > limit:
            raise TooLong(f"{name} in {self.path.name} is too large.", actual=self.size(name))
        with self.open(name) as content:
            return content.read()

    def rewrite(self, out: BinaryIO, content_of: EntryContent) -> None:
        """Write the archive with new content in some entries; `content_of` returns None for the others.

        It is called once for each entry, in file order.
        """
        with self.path.open("rb") as file:
            _ArchiveCopy(file, self._zip, out).run(content_of)

    def _check(self, entries: list[zipfile.ZipInfo]) -> None:
        where = self.path.name
        if len(entries) > MAX_ENTRIES:
            raise TooLong(f"{where} has {len(entries):,} entries; the limit is {MAX_ENTRIES:,}.")
        if len(self._entries) < len(entries):
            twice, _ = Counter(entry.filename for entry in entries).most_common(1)[0]
            raise InputError(f"{where} has two entries with the name {twice!r}, so its content is ambiguous.")
        for entry in entries:
            if _BAD_NAME.search(entry.orig_filename):
                raise InputError(f"{where} has an entry that points outside of it: {entry.orig_filename!r}.")
            if entry.flag_bits & _ENCRYPTED:
                raise InputError(f"{where} is encrypted ({entry.filename!r}): make a copy without a password.")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(f"{where} has an entry in a compression other than deflate: {entry.filename!r}.")
        self._check_sizes(entries)

    def _check_sizes(self, entries: list[zipfile.ZipInfo]) -> None:
        total = sum(entry.file_size for entry in entries)
        packed = max(1, self.path.stat().st_size)
        if total > MAX_TOTAL_BYTES or (total > RATIO_MIN_BYTES and total / packed > MAX_RATIO):
            raise TooLong(
                f"{self.path.name} would unpack to {total:,} bytes, {total // packed:,} times its size: "
                "it looks like a zip bomb and is not read.",
                actual=total,
                limit=MAX_TOTAL_BYTES,
            )
        end = 0
        for entry in sorted(entries, key=lambda entry: entry.header_offset):
            if entry.header_offset < end:
                raise InputError(f"{self.path.name} has entries that overlap: it is damaged, or a zip bomb.")
            end = entry.header_offset + _LOCAL.size + entry.compress_size


class _EntryStream(io.RawIOBase):
    """The content of an entry; errors of zipfile become `InputError`."""

    def __init__(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, where: str) -> None:
        self._what = f"The entry {entry.filename!r} of {where}"
        with self._input_errors():
            self._content: IO[bytes] = archive.open(entry)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        with self._input_errors():
            data = self._content.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed and hasattr(self, "_content"):
            self._content.close()
        super().close()

    def _input_errors(self) -> _ArchiveErrors:
        return _ArchiveErrors(self._what)


class _ArchiveErrors:
    """Raise the errors of zipfile and zlib for a damaged entry as `InputError`."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)):
            raise InputError(f"{self.what} is damaged: {error}.") from error


class _ArchiveCopy:
    """State of one rewrite: which entry was written where."""

    def __init__(self, file: BinaryIO, archive: zipfile.ZipFile, out: BinaryIO) -> None:
        self.file = file
        self.archive = archive
        self.out = out
        self.written = 0
        self.moved: dict[int, int] = {}  # old offset of an entry: how far it moved
        self.fresh: dict[str, tuple[int, int, int]] = {}  # new entries: checksum, packed size, size

    def run(self, content_of: EntryContent) -> None:
        entries = sorted(self.archive.infolist(), key=lambda entry: entry.header_offset)
        directory = self.archive.start_dir
        ends = [entry.header_offset for entry in entries[1:]] + [directory]
        self._copy(0, entries[0].header_offset if entries else directory)
        for entry, end in zip(entries, ends, strict=True):
            self.moved[entry.header_offset] = self.written - entry.header_offset
            content = content_of(entry.filename)
            if content is None:
                self._copy(entry.header_offset, end)
            else:
                with content:
                    self._write_entry(entry, content)
        self._write_directory(directory)

    def _write(self, data: bytes) -> None:
        self.out.write(data)
        self.written += len(data)

    def _copy(self, start: int, end: int) -> None:
        self.file.seek(start)
        while start < end:
            data = self.file.read(min(CHUNK, end - start))
            if not data:
                raise InputError("The archive became shorter while it was read.")
            self._write(data)
            start += len(data)

    def _write_entry(self, entry: zipfile.ZipInfo, content: BinaryIO) -> None:
        """Write the entry with new content. Its header keeps everything but the sizes, which precede the content."""
        with SpooledTemporaryFile(max_size=MAX_MEMORY_BYTES) as packed:
            checksum, size = _pack(content, packed, entry.compress_type)
            packed_size = packed.tell()
            packed.seek(0)
            self.fresh[entry.filename] = checksum, packed_size, size
            self.file.seek(entry.header_offset)
            fields = list(_LOCAL.unpack(self.file.read(_LOCAL.size)))
            name, extra = self.file.read(fields[9]), _without_zip64(self.file.read(fields[10]))
            fields[2] &= ~_HAS_DESCRIPTOR
            fields[6:9] = checksum, packed_size, size
            fields[10] = len(extra)
            self._write(_LOCAL.pack(*fields) + name + extra)
            shutil.copyfileobj(packed, self.out, CHUNK)
            self.written += packed_size

    def _write_directory(self, start: int) -> None:
        if not self.fresh:
            self._copy(start, self.file.seek(0, io.SEEK_END))
            return
        new_start = self.written
        self.file.seek(start)
        for entry in self.archive.infolist():
            self._write(self._directory_entry(entry))
        end = self.file.tell()
        size = self.written - new_start
        for data in self._end_records():
            self._write(self._moved_end(data, new_start - start, size, (new_start + size) - end))

    def _directory_entry(self, entry: zipfile.ZipInfo) -> bytes:
        fields = list(_CENTRAL.unpack(self.file.read(_CENTRAL.size)))
        name, extra, comment = (self.file.read(length) for length in fields[10:13])
        if entry.filename in self.fresh:
            fields[3] &= ~_HAS_DESCRIPTOR
            fields[7:10] = self.fresh[entry.filename]
            extra = _without_zip64(extra)
            fields[11] = len(extra)
        moved = self.moved[entry.header_offset]
        if fields[16] == _HUGE and (moved or entry.filename in self.fresh):
            raise InputError("An archive of more than 4 GB can be read but not rewritten.")
        fields[16] += moved if fields[16] != _HUGE else 0
        return _CENTRAL.pack(*fields) + name + extra + comment

    def _end_records(self) -> Iterator[bytes]:
        """The records after the directory: those of ZIP64, if any, and the end record with its comment."""
        head = self.file.read(4)
        while head in (b"PK\x06\x06", b"PK\x06\x07"):
            record = _END_64 if head == b"PK\x06\x06" else _LOCATOR_64
            data = head + self.file.read(record.size - 4)
            if record is _END_64:
                data += self.file.read(_END_64.unpack(data)[1] + 12 - _END_64.size)
            yield data
            head = self.file.read(4)
        yield head + self.file.read()

    def _moved_end(self, data: bytes, moved: int, size: int, end_moved: int) -> bytes:
        """An end record with the new offset of the directory."""
        if data.startswith(b"PK\x06\x06"):
            large = list(_END_64.unpack(data[: _END_64.size]))
            large[8:10] = size, large[9] + moved
            return _END_64.pack(*large) + data[_END_64.size :]
        if data.startswith(b"PK\x06\x07"):
            locator = list(_LOCATOR_64.unpack(data))
            locator[2] += end_moved
            return _LOCATOR_64.pack(*locator)
        if not data.startswith(b"PK\x05\x06"):
            raise InputError("The archive has unknown data between its directory and its end record.")
        fields = list(_END.unpack(data[: _END.size]))
        fields[5] = fields[5] if fields[5] == _HUGE else size
        fields[6] += moved if fields[6] != _HUGE else 0
        return _END.pack(*fields) + data[_END.size :]


def _pack(content: BinaryIO, out: IO[bytes], method: int) -> tuple[int, int]:
    """Write the content compressed; return its checksum and size."""
    packer = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION, zlib.DEFLATED, -15)
    checksum = size = 0
    while data := content.read(CHUNK):
        checksum, size = zlib.crc32(data, checksum), size + len(data)
        out.write(packer.compress(data) if method == zipfile.ZIP_DEFLATED else data)
    if method == zipfile.ZIP_DEFLATED:
        out.write(packer.flush())
    return checksum, size


def _without_zip64(extra: bytes) -> bytes:
    """The extra fields without the ZIP64 sizes."""
    remaining, position = b"", 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, position)
        if kind != 1:
            remaining += extra[position : position + 4 + length]
        position += 4 + length
    return remaining + extra[position:]
