"""Untrusted zip files: bad ones are refused with a message, good ones are rewritten byte for byte."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.books.archive import Archive
from ape.errors import InputError, TooLong
from tests.linear import assert_linear

WHEN = (2021, 3, 4, 5, 6, 8)


def make(path: Path, entries: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name, WHEN), data, compress_type=method)
    return path


def rewritten(path: Path, new: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with Archive(path) as archive:
        archive.rewrite(out, lambda name: io.BytesIO(new[name]) if name in new else None)
    return out.getvalue()


def contents(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


class Pipe(io.RawIOBase):
    """An output that can't seek, which makes zipfile write sizes after the data."""

    def __init__(self) -> None:
        self.data = b""

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.data += bytes(data)
        return len(data)


def streamed(entries: dict[str, bytes]) -> bytes:
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return pipe.data


def with_long_sizes(entries: dict[str, bytes]) -> bytes:
    """An archive with ZIP64 extra fields in every entry, as some programs write it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            with archive.open(zipfile.ZipInfo(name, WHEN), "w", force_zip64=True) as entry:
                entry.write(data)
    return out.getvalue()


def with_odd_things(entries: dict[str, bytes]) -> bytes:
    """An archive with extra fields, comments, an unusual system and a prefix."""
    out = io.BytesIO(b"#!/bin/sh\n")
    out.seek(0, io.SEEK_END)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            info = zipfile.ZipInfo(name, WHEN)
            info.extra = struct.pack("<2H4s", 0x7075, 4, b"abcd")
            info.comment, info.create_system, info.external_attr = b"remark", 0, 0x20
            archive.writestr(info, data, compress_type=zipfile.ZIP_DEFLATED)
        archive.comment = b"the end"
    return out.getvalue()


ENTRIES = {"mimetype": b"application/x", "a/b.txt": b"old " * 500, "ü.txt": b"", "z.bin": bytes(range(256)) * 9}


def archive_bytes(tmp_path: Path) -> dict[str, bytes]:
    return {
        "deflated": make(tmp_path / "d.zip", ENTRIES).read_bytes(),
        "stored": make(tmp_path / "s.zip", ENTRIES, method=zipfile.ZIP_STORED).read_bytes(),
        "streamed": streamed(ENTRIES),
        "long": with_long_sizes(ENTRIES),
        "odd": with_odd_things(ENTRIES),
    }


KINDS = ["deflated", "stored", "streamed", "long", "odd"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_archive_that_nobody_changes_is_the_same_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(archive_bytes(tmp_path)[kind])
    assert rewritten(path, {}) == path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("new", [b"", b"new", b"longer " * 9000])
def test_new_content_changes_one_entry_and_no_other(tmp_path: Path, kind: str, new: bytes) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(archive_bytes(tmp_path)[kind])
    out = rewritten(path, {"a/b.txt": new})
    assert contents(out) == {**ENTRIES, "a/b.txt": new}
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(io.BytesIO(out)) as archive:
        assert archive.comment == old.comment
        for before, after in zip(old.infolist(), archive.infolist(), strict=True):
            same = "filename compress_type date_time comment create_system external_attr".split()
            assert [getattr(before, name) for name in same] == [getattr(after, name) for name in same]
        first = old.infolist()[1].header_offset
    assert out[:first] == path.read_bytes()[:first]


NAMES = st.text("abc/ü", min_size=1).filter(lambda name: name[0] != "/")


@settings(max_examples=30, deadline=None)
@given(entries=st.dictionaries(NAMES, st.binary(max_size=300), min_size=1), data=st.data())
def test_any_entry_can_be_rewritten(
    tmp_path_factory: pytest.TempPathFactory, entries: dict[str, bytes], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("zip") / "x.zip"
    path.write_bytes(data.draw(st.sampled_from([streamed, with_long_sizes, with_odd_things]))(entries))
    changed = data.draw(st.dictionaries(st.sampled_from(sorted(entries)), st.binary(max_size=400)))
    out = rewritten(path, changed)
    assert contents(out) == {**entries, **changed}
    path.write_bytes(out)
    assert rewritten(path, {}) == out


def test_a_large_archive_record_is_moved_too(tmp_path: Path) -> None:
    plain = make(tmp_path / "x.zip", ENTRIES).read_bytes()
    end = plain.rindex(b"PK\x05\x06")
    count, size, start = struct.unpack_from("<H2I", plain, end + 10)
    large = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, start)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1)
    last = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    path = tmp_path / "large.zip"
    path.write_bytes(plain[:end] + large + locator + last)
    assert rewritten(path, {}) == path.read_bytes()
    assert contents(rewritten(path, {"a/b.txt": b"new"}))["a/b.txt"] == b"new"


@pytest.mark.parametrize("data", [b"", b"no zip at all", b"PK\x03\x04 and then nothing"])
def test_what_is_no_zip_is_said_to_be_none(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "book.epub"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"book\.epub is not a zip file"):
        Archive(path)


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/passwd", "C:/x", "..\\evil", "a/.."])
def test_a_name_that_points_outside_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="points outside"):
        Archive(make(tmp_path / "x.zip", {"fine": b"", name: b"x"}))


def test_two_entries_of_one_name_are_found_in_linear_time(tmp_path: Path) -> None:
    def refuse(count: int) -> None:
        path = make(
            tmp_path / "x.zip", {f"{number:06}": b"" for number in range(count)} | {"same-1": b"", "same-2": b""}
        )
        path.write_bytes(path.read_bytes().replace(b"same-2", b"same-1"))
        with pytest.raises(InputError, match="two entries with the name 'same-1'"):
            Archive(path)

    assert_linear(refuse, 1_200)


def test_two_entries_of_one_name_are_refused(tmp_path: Path) -> None:
    path = make(tmp_path / "x.zip", {"a": b"1", "b": b"2"})
    data = path.read_bytes()
    at = data.rindex(b"PK\x01\x02")
    path.write_bytes(data[: at + 46] + b"a" + data[at + 47 :])
    with pytest.raises(InputError, match="two entries with the name 'a'"):
        Archive(path)


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    path = make(tmp_path / "x.zip", {"a": b"1"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="encrypted"):
        Archive(path)


def test_another_compression_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="compression other than deflate"):
        Archive(make(tmp_path / "x.zip", {"a": b"1" * 99}, method=zipfile.ZIP_BZIP2))


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open("a", "w") as entry:
        for _ in range(101):
            entry.write(bytes(1 << 20))
    with pytest.raises(TooLong, match="zip bomb"):
        Archive(path)


def test_entries_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    path = make(tmp_path / "x.zip", {"a": b"1" * 50, "b": b"2" * 50})
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 42, 0)
    path.write_bytes(data)
    with pytest.raises(InputError, match="overlap"):
        Archive(path)


def test_a_size_that_lies_does_not_unpack_more(tmp_path: Path) -> None:
    path = make(tmp_path / "x.zip", {"a": bytes(1 << 20)})
    data = bytearray(path.read_bytes())
    for sign, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.index(sign) + place, 10)
    path.write_bytes(data)
    with Archive(path) as archive, pytest.raises(InputError, match="damaged"):
        archive.read("a")


def test_a_damaged_entry_is_named(tmp_path: Path) -> None:
    path = make(tmp_path / "x.zip", {"a": b"hello world", "b": b"x"}, method=zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"hello", b"hallo"))
    with Archive(path) as archive, pytest.raises(InputError, match=r"The entry 'a' of x\.zip is damaged"):
        archive.read("a")


def test_an_entry_larger_than_it_should_be_is_not_read_whole(tmp_path: Path) -> None:
    with Archive(make(tmp_path / "x.zip", {"a": b"hello"})) as archive, pytest.raises(TooLong, match="too large"):
        archive.read("a", limit=3)
