"""An upload is written to disk unchanged, or refused with a message; files are never held in memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ape.errors import ApeError, InputError, TooLong
from serve.middleware.problems import Unreadable
from serve.routes.multipart import NoSpace, Upload, UploadLimits, receive_upload

BOUNDARY = "a-line-between"
KIND = f"multipart/form-data; boundary={BOUNDARY}"
ROOM = UploadLimits(whole=1_000_000, fields=1_000)


def part(name: str, content: bytes, *, filename: str | None = None, more: str = "") -> bytes:
    label = f'; filename="{filename}"' if filename is not None else ""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{label}\r\n{more}\r\n'
    return head.encode() + content + b"\r\n"


def body(*parts: bytes) -> bytes:
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


async def pieces(content: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


async def sent(
    content: bytes, folder: Path, *, size: int = 65536, limits: UploadLimits = ROOM, kind: str = KIND
) -> Upload:
    return await receive_upload(
        pieces(content, size),
        folder,
        content_type=kind,
        files=("source", "mt"),
        fields=("name", "glossary"),
        limits=limits,
    )


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    content=st.binary(max_size=300) | st.sampled_from([b"\r\n--a-line", b"\r\n" * 40, b"\r\n--\r\n", b""]),
    size=st.integers(1, 200),
)
async def test_bytes_arrive_as_they_were_however_they_are_cut(content: bytes, size: int, tmp_path: Path) -> None:
    upload = await sent(
        body(part("source", content, filename="a.txt"), part("name", b"Two nights")), tmp_path, size=size
    )
    assert upload.files["source"].read_bytes() == content
    assert upload.fields == {"name": "Two nights"}


@pytest.mark.parametrize(
    ("label", "stored", "expected"),
    [
        ("night.epub", "mt.epub", "night.epub"),
        ("Night.TXT", "mt.txt", "Night.TXT"),
        ("../../etc/passwd", "mt", "passwd"),
        ("..\\..\\night.html", "mt.html", "night.html"),
        ("night.exe", "mt", "night.exe"),
        ("ночь.docx", "mt.docx", "ночь.docx"),
        ("a\tb.md", "mt.md", "ab.md"),
        ("", "mt", "mt"),
        ("..", "mt", ".."),
        ("x" * 500 + ".txt", "mt.txt", "x" * 196 + ".txt"),
    ],
)
async def test_the_senders_name_is_but_a_label(label: str, stored: str, expected: str, tmp_path: Path) -> None:
    upload = await sent(body(part("mt", b"text", filename=label)), tmp_path)
    assert upload.files["mt"] == tmp_path / stored
    assert upload.labels["mt"] == expected
    assert names_in(tmp_path) == [stored]


def names_in(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


async def test_a_file_needs_no_name(tmp_path: Path) -> None:
    upload = await sent(body(part("mt", b"text")), tmp_path)
    assert upload.files["mt"].read_bytes() == b"text"


@pytest.mark.parametrize(
    ("content", "kind", "error", "words"),
    [
        (body(part("mt", b"text"))[:-10], KIND, Unreadable, "ends before its final boundary"),
        (b"", KIND, Unreadable, "ends before its final boundary"),
        (b"not parts at all", KIND, Unreadable, "can't be read"),
        (body(part("mt", b"text")), "multipart/form-data", Unreadable, "no boundary"),
        (body(), f"multipart/form-data; boundary={'x' * 5000}", Unreadable, "boundary is invalid"),
        (b"{}", "application/json", Unreadable, "not application/json"),
        (b"", "", Unreadable, "of no stated type"),
        (body(part("virus", b"text")), KIND, InputError, "Unknown part 'virus'"),
        (body(part("mt", b"1"), part("mt", b"2")), KIND, InputError, "twice"),
        (body(part("name", b"1"), part("name", b"2")), KIND, InputError, "twice"),
        (body(part("name", b"\xff\xfe")), KIND, InputError, "not valid UTF-8"),
        (
            body(part("mt", b"dA==", more="Content-Transfer-Encoding: base64\r\n")),
            KIND,
            InputError,
            "has a transfer encoding",
        ),
        (body(part("glossary", b"x" * 1001)), KIND, TooLong, "1,000 bytes in total"),
        (body(part("name", b"x" * 600), part("glossary", b"x" * 600)), KIND, TooLong, "1,000 bytes in total"),
        (f"--{BOUNDARY}\r\n".encode() + b"X: " + b"y" * 100_000 + b"\r\n\r\n", KIND, Unreadable, "can't be read"),
    ],
)
async def test_what_is_no_upload_is_refused(
    content: bytes, kind: str, error: type[ApeError], words: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        await sent(content, tmp_path, kind=kind)


async def test_too_much_is_refused_as_soon_as_it_is_too_much(tmp_path: Path) -> None:
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        yield part("mt", b"")[:-2]
        while True:
            taken += 10_000
            yield b"x" * 10_000

    with pytest.raises(TooLong) as caught:
        await receive_upload(
            endless(),
            tmp_path,
            content_type=KIND,
            files=("mt",),
            fields=(),
            limits=UploadLimits(whole=100_000, fields=1),
        )
    assert caught.value.limit == 100_000
    assert taken <= 100_000


async def test_a_large_file_is_never_in_memory(tmp_path: Path) -> None:
    count = 30_000_000

    async def large() -> AsyncIterator[bytes]:
        yield part("mt", b"")[:-2]
        for _ in range(count // 60_000):
            yield b"y" * 60_000
        yield f"\r\n--{BOUNDARY}--\r\n".encode()

    tracemalloc.start()
    try:
        upload = await receive_upload(
            large(),
            tmp_path,
            content_type=KIND,
            files=("mt",),
            fields=(),
            limits=UploadLimits(whole=2 * count, fields=1),
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert upload.files["mt"].stat().st_size == count
    assert peak < 2_000_000


async def test_a_full_disk_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "mt.txt").symlink_to("/dev/full")
    with pytest.raises(NoSpace, match="disk for uploads is full"):
        await sent(body(part("mt", b"text", filename="a.txt")), tmp_path)


async def test_a_folder_that_can_not_be_written_to_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ApeError, match="can't be written to disk"):
        await sent(body(part("mt", b"text", filename="a.txt")), tmp_path / "nowhere")
