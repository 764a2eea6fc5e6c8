"""The shipped weights: matrices of 8 bits with a scale for each row, in one file with the vocabulary."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ape.errors import InputError
from ape.files.atomic import atomic_path
from eval.linguistics.literary.network import Floats
from eval.linguistics.literary.wordpiece import WordPieces

WEIGHTS_FILE = Path(__file__).with_name("weights.npz")
_SCALE = ":scale"
_VOCABULARY = "vocabulary"


@dataclass(frozen=True, slots=True)
class LiteraryModel:
    """The weights of the network and the vocabulary of its pieces; `version` is a digest of the file."""

    weights: Mapping[str, Floats]
    pieces: WordPieces
    version: str


def quantise(values: Floats) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int8]], Floats]:
    """Each row as integers of -127 to 127 times its scale."""
    scale = np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-12).astype(np.float32) / np.float32(127)
    return np.rint(values / scale).astype(np.int8), scale.astype(np.float32)


def round_to_8_bits(values: Floats) -> Floats:
    """A matrix as it is after storage; a vector as it is."""
    if values.ndim != 2:
        return values
    whole, scale = quantise(values)
    return whole.astype(np.float32) * scale


def save_weights(path: Path, weights: Mapping[str, Floats], vocabulary: list[str]) -> None:
    """Write matrices in 8 bits and vectors as they are; equal weights make equal bytes."""
    arrays: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]] = {
        _VOCABULARY: np.frombuffer("\n".join(vocabulary).encode(), np.uint8)
    }
    for name, values in sorted(weights.items()):
        if values.ndim == 2:
            arrays[name], arrays[name + _SCALE] = quantise(values)
        else:
            arrays[name] = values.astype(np.float32)
    with atomic_path(path) as draft:
        draft.write_bytes(zip_arrays(arrays))


def zip_arrays(arrays: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]) -> bytes:
    """An .npz without times; integers of 8 bits hardly compress."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, values in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.ascontiguousarray(values), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue())
    return target.getvalue()


@lru_cache(maxsize=2)
def load_model(path: Path = WEIGHTS_FILE) -> LiteraryModel:
    """Read a file of `save_weights`."""
    try:
        content = path.read_bytes()
        version = hashlib.sha256(content).hexdigest()[:8]
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        vocabulary = arrays.pop(_VOCABULARY).tobytes().decode().split("\n")
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} can't be read as weights of the literary annotator: {error}.") from error
    weights = {
        name: values.astype(np.float32) * arrays[name + _SCALE] if name + _SCALE in arrays else values
        for name, values in arrays.items()
        if not name.endswith(_SCALE)
    }
    return LiteraryModel(weights, WordPieces(vocabulary), version)
