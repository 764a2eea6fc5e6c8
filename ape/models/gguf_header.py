"""Read the metadata and tensor positions of a GGUF file, without a library."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ape.models.checksum import GGUF_MAGIC

_VERSIONS = (2, 3)
_ALIGNMENT = 32
_STRING, _ARRAY = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
# Only unquantised tensors are read: norms and LoRA weights are never quantised.
_PLAIN = {0: "<f4", 1: "<f2"}


class DamagedGguf(ValueError):
    """The file is incomplete or not GGUF."""


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """A tensor and its position in the file; `shape` is in numpy's order."""

    shape: tuple[int, ...]
    kind: int
    start: int

    @property
    def is_plain(self) -> bool:
        """Whether it is unquantised, so that its values can be read."""
        return self.kind in _PLAIN

    @property
    def size(self) -> int:
        """Its size in bytes, or 0 if it is quantised."""
        return prod(self.shape) * int(_PLAIN[self.kind][-1]) if self.is_plain else 0


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """Metadata without lists (such as the vocabulary), and tensors by name."""

    path: Path
    metadata: Mapping[str, str | float | bool]
    tensors: Mapping[str, GgufTensor]

    def read(self, name: str) -> NDArray[np.float32]:
        """The values of an unquantised tensor."""
        tensor = self.tensors[name]
        with self.path.open("rb") as file:
            file.seek(tensor.start)
            content = file.read(tensor.size)
        return np.frombuffer(content, _PLAIN[tensor.kind]).astype(np.float32).reshape(tensor.shape)


def read_gguf_header(path: Path) -> GgufHeader:
    """Read the header; DamagedGguf if the file is incomplete, as far as the header shows."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            header = _Reader(content).header(path)
            _require_whole(header, len(content))
    except (struct.error, UnicodeDecodeError, OverflowError, ValueError) as error:
        raise DamagedGguf(str(error) or "it ends early") from error
    return header


def _require_whole(header: GgufHeader, size: int) -> None:
    for name, tensor in header.tensors.items():
        if tensor.start + tensor.size > size:
            raise DamagedGguf(f"it ends before {name}")


class _Reader:
    """A single pass over the header; skipping a vocabulary of 49,152 tokens takes most of the time (40 ms)."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._position = 0

    def header(self, path: Path) -> GgufHeader:
        if self._content[:4] != GGUF_MAGIC:
            raise DamagedGguf("it is not a GGUF file")
        self._position = 4
        if (version := self._take("I")) not in _VERSIONS:
            raise DamagedGguf(f"its GGUF version {version} is not supported")
        count, pairs = self._take("Q"), self._take("Q")
        metadata = {}
        for _ in range(pairs):
            name = self._text()
            if (value := self._value(self._take("I"))) is not None:
                metadata[name] = value
        found = [self._tensor() for _ in range(count)]
        alignment = int(metadata.get("general.alignment", _ALIGNMENT))
        begin = -(-self._position // alignment) * alignment
        tensors = {name: GgufTensor(shape, kind, begin + offset) for name, shape, kind, offset in found}
        return GgufHeader(path, metadata, tensors)

    def _take(self, form: str) -> int:
        (value,) = struct.unpack_from(f"<{form}", self._content, self._position)
        self._position += struct.calcsize(f"<{form}")
        return value  # type: ignore[no-any-return]

    def _text(self) -> str:
        length = self._take("Q")
        begin, self._position = self._position, self._position + length
        if self._position > len(self._content):
            raise DamagedGguf("it ends early")
        return self._content[begin : self._position].decode()

    def _value(self, kind: int) -> str | float | bool | None:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY:
            self._skip(self._take("I"), self._take("Q"))
            return None
        if kind not in _NUMBERS:
            raise DamagedGguf(f"its metadata has a value of the unknown kind {kind}")
        return self._take(_NUMBERS[kind])

    def _skip(self, kind: int, count: int) -> None:
        if kind in _NUMBERS:
            self._position += count * struct.calcsize(f"<{_NUMBERS[kind]}")
            return
        if kind != _STRING:
            raise DamagedGguf(f"its metadata has a list of the unknown kind {kind}")
        content, position, length = self._content, self._position, struct.Struct("<Q").unpack_from
        for _ in range(count):
            position += 8 + length(content, position)[0]
        self._position = position

    def _tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._text()
        dimensions = [self._take("Q") for _ in range(self._take("I"))]
        return name, tuple(reversed(dimensions)), self._take("I"), self._take("Q")
