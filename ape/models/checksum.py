"""What a model file holds: whether it is GGUF at all, and whether it is the very file we expect."""

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
# Two trainings, or two quantisations, differ nearly everywhere: all of a 40 GB file would tell no more.
_SAMPLES, _SAMPLE = 64, 1 << 16


@dataclass(frozen=True, slots=True)
class FileChecksum:
    """The size of some content and its SHA-256."""

    size: int
    sha256: str


def compute_checksum(path: Path, *, what: str, progress: DownloadListener) -> FileChecksum:
    """Read a file to its end and take its fingerprint."""
    with path.open("rb") as file:
        return copy_with_checksum(file, None, what=what, total=path.stat().st_size, progress=progress)


def copy_with_checksum(
    reader: IO[bytes], writer: IO[bytes] | None, *, what: str, total: int | None, progress: DownloadListener
) -> FileChecksum:
    """Copy from reader to writer, if there is one, and take the fingerprint on the way.

    It stops as soon as there is more than `total`: no more of a wrong file is written than of the right one.
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
    """A short name for a model file's content, by its size and a sample of it: the same for every size of file."""
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for part in range(_SAMPLES):
            file.seek(part * max(0, size - _SAMPLE) // (_SAMPLES - 1))
            digest.update(file.read(_SAMPLE))
    return digest.hexdigest()[:16]


def verify_checksum(model: CatalogueModel, actual: FileChecksum, *, origin: str, remedy: str) -> None:
    """Raise unless this is the content that the catalogue, or the hub, says the model has."""
    if model.size is not None and actual.size != model.size:
        more = "over " if actual.size > model.size else ""
        wrong = f"it has {more}{actual.size:,} bytes instead of {model.size:,}"
    elif model.sha256 is not None and actual.sha256 != model.sha256:
        wrong = f"its SHA-256 is {actual.sha256} instead of {model.sha256}"
    else:
        return
    raise ModelError(f"{origin} is not the model {model.name} that we know: {wrong}. {remedy}")


def is_gguf(path: Path) -> bool:
    """Whether the file begins as every GGUF file does."""
    return _beginning(path).startswith(GGUF_MAGIC)


def require_gguf(path: Path) -> None:
    """Raise, with what the path is instead, unless it is a GGUF file."""
    try:
        if path.is_dir():
            raise InputError(
                f"{path} is a folder, and a model is one GGUF file. {_advice(path)}", field="model"
            )
        beginning = _beginning(path)
    except FileNotFoundError as error:
        raise InputError(
            f"There is no file {path} (looked for at {path.absolute()}).", field="model"
        ) from error
    except OSError as error:
        raise InputError(f"The model {path} can't be read: {error.strerror}.", field="model") from error
    if not beginning.startswith(GGUF_MAGIC):
        raise InputError(f"{path} is not a GGUF model: {_describe_content(beginning)}", field="model")


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(32)


def _describe_content(beginning: bytes) -> str:
    if beginning.startswith(b"version https://git-lfs"):
        return "it is what Git LFS leaves in a model's place. Run `git lfs pull` in its repository."
    return (
        f"it begins with {beginning[:4]!r} instead of {GGUF_MAGIC!r}. Was its download cut short, or is it of"
        " another format? llama.cpp's convert_hf_to_gguf.py makes GGUF of safetensors."
    )


def _advice(folder: Path) -> str:
    files = sorted(folder.glob("*.gguf"))
    if files:
        return f"Name the one in it that you want, for instance {files[0]}."
    if (folder / "config.json").is_file():
        return (
            "This looks like a model for transformers: convert it with llama.cpp's convert_hf_to_gguf.py, or"
            " name the server that runs it with --url."
        )
    return "There is none in it."
