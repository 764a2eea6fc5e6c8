"""Read the header and values of a safetensors file without torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MAX_HEADER_BYTES = 100_000_000  # the limit of the format
_BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
_FLOATS = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "F64": "<f8"}


class DamagedSafetensors(ValueError):
    """The file does not match its header."""


@dataclass(frozen=True, slots=True)
class SafetensorsTensor:
    """A tensor and its position in the file."""

    path: Path
    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    size: int

    @property
    def is_float(self) -> bool:
        """Whether `read` supports its data type."""
        return self.dtype in _FLOATS

    def read(self, *, limit: int | None = None) -> NDArray[np.float32]:
        """The values, or the first `limit` of them."""
        width = _BYTES[self.dtype]
        with self.path.open("rb") as file:
            file.seek(self.start)
            content = file.read(self.size if limit is None else min(self.size, limit * width))
        raw = np.frombuffer(content, _FLOATS[self.dtype])
        if self.dtype == "BF16":
            return (raw.astype(np.uint32) << 16).view(np.float32)
        return raw.astype(np.float32)


def read_safetensors_header(path: Path) -> dict[str, SafetensorsTensor]:
    """The tensors of a file by name; DamagedSafetensors if the header and the file do not match."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(size - 8, MAX_HEADER_BYTES):
            raise DamagedSafetensors("it has no header")
        try:
            header = json.loads(file.read(length))
            tensors = {
                str(name): _tensor(path, str(name), entry, 8 + length)
                for name, entry in header.items()
                if name != "__metadata__"
            }
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DamagedSafetensors("its header can't be read") from error
    end = 8 + length
    for tensor in sorted(tensors.values(), key=lambda tensor: tensor.start):
        if tensor.start != end:
            raise DamagedSafetensors(f"{tensor.name} does not begin where the previous tensor ends")
        end += tensor.size
    if end != size:
        raise DamagedSafetensors(f"it has {size:,} bytes, and its header describes {end:,}")
    return tensors


def _tensor(path: Path, name: str, entry: dict[str, list[int]], base: int) -> SafetensorsTensor:
    dtype, shape = str(entry["dtype"]), tuple(int(side) for side in entry["shape"])
    begin, end = entry["data_offsets"]
    if not isinstance(begin, int) or not isinstance(end, int):
        raise ValueError("offsets")
    count = 1
    for side in shape:
        count *= side
    if begin < 0 or end < begin or min(shape, default=0) < 0:
        raise ValueError("offsets")
    if dtype in _BYTES and count * _BYTES[dtype] != end - begin:
        raise ValueError("size")
    return SafetensorsTensor(path, name, dtype, shape, base + begin, end - begin)
