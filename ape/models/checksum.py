"""Checks of model files: whether a file is GGUF, and whether its checksum is right."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ape.errors import InputError, ModelError
from ape.models.catalogue import CatalogueModel
from ape.models.progress import DownloadListener, DownloadProgress

GGUF_MAGIC = b"GGUF"
_CHUNK = 1 << 20
# Two trainings or quantisations differ nearly everywhere, so samples identify even a 40 GB file.
_SAMPLES, _SAMPLE = 64, 1 << 16


@dataclass(frozen=True, slots=True)
class FileChecksum:
    """Size and SHA-256 of a file."""

    size: int
    sha256: str


def compute_checksum(path: Path, *, what: str, progress: DownloadListener) -> FileChecksum:
    """Compute the checksum of a file."""
    with path.open("rb") as file:
        return copy_with_checksum(file, None, what=what, total=path.stat().st_size, progress=progress)


def copy_with_checksum(
    reader: IO[bytes], writer: IO[bytes] | None, *, what: str, total: int | None, progress: DownloadListener
) -> FileChecksum:
    """Copy from reader to writer, if any, and compute the checksum.

    Copying stops once there is more than `total`, so that a wrong file can't fill the disk.
    """
    digest, size = hashlib.sha256(), 0
    while (chunk := reader.read(_CHUNK)) and (total is None or size <= total):
        if writer is not None:
            writer.write(chunk)
        digest.update(chunk)
        size += len(chunk)
        progress(DownloadProgress(what, size, total))
    return FileChecksum(size, digest.hexdigest())


def file_revision(path: Path) -> str:
    """A short digest of a model file's size and of samples of its content, equally fast for every size."""
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for part in range(_SAMPLES):
            file.seek(part * max(0, size - _SAMPLE) // (_SAMPLES - 1))
            digest.update(file.read(_SAMPLE))
    return digest.hexdigest()[:16]


def verify_checksum(model: CatalogueModel, actual: FileChecksum, *, origin: str, remedy: str) -> None:
    """Raise ModelError unless size and hash are those of the catalogue or the hub."""
    if model.size is not None and actual.size != model.size:
        more = "over " if actual.size > model.size else ""
        wrong = f"it has {more}{actual.size:,} bytes instead of {model.size:,}"
    elif model.sha256 is not None and actual.sha256 != model.sha256:
        wrong = f"its SHA-256 is {actual.sha256} instead of {model.sha256}"
    else:
        return
    raise ModelError(f"{origin} is not the expected file of the model {model.name}: {wrong}. {remedy}")


def is_gguf(path: Path) -> bool:
    """Whether the file begins with the GGUF magic number."""
    return _beginning(path).startswith(GGUF_MAGIC)


def require_gguf(path: Path) -> None:
    """Raise InputError, with a description of the path, unless it is a GGUF file."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder, and a model is one GGUF file. {_advice(path)}", field="model")
        beginning = _beginning(path)
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path} (looked for at {path.absolute()}).", field="model") from error
    except OSError as error:
        raise InputError(f"The model {path} can't be read: {error.strerror}.", field="model") from error
    if not beginning.startswith(GGUF_MAGIC):
        raise InputError(f"{path} is not a GGUF model: {_describe_content(beginning)}", field="model")


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(32)


def _describe_content(beginning: bytes) -> str:
    if beginning.startswith(b"version https://git-lfs"):
        return "it is a Git LFS pointer. Run `git lfs pull` in its repository."
    return (
        f"it begins with {beginning[:4]!r} instead of {GGUF_MAGIC!r}. Was its download incomplete, or is it in"
        " another format? llama.cpp's convert_hf_to_gguf.py converts safetensors to GGUF."
    )


def _advice(folder: Path) -> str:
    files = sorted(folder.glob("*.gguf"))
    if files:
        return f"Name one of the files in it, for example {files[0]}."
    if (folder / "config.json").is_file():
        return (
            "This looks like a model for transformers: convert it with llama.cpp's convert_hf_to_gguf.py, or"
            " set `url` to a server that runs it."
        )
    return "There is none in it."
