"""Download a model file from the Hugging Face hub with huggingface_hub, the optional extra "hub".

That library uses the user's token, mirror, proxy and download cache.
"""

from __future__ import annotations

import errno
import importlib
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import ModuleType

from ape.errors import InputError, ModelError
from ape.models.catalogue import CatalogueModel, HubSource
from ape.models.progress import DownloadListener, watch_folder

# The default of llama.cpp: about the fewest bits without a clear loss of quality.
PREFERRED_QUANTISATION = "Q4_K_M"
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES}


def describe_hub_model(model: CatalogueModel, source: HubSource) -> CatalogueModel:
    """Choose the file of the model; returns the model with the size and hash that the hub reports."""
    library = _library(source)
    with _translate_errors(library, source):
        found = library.model_info(source.repository, revision=source.revision, files_metadata=True)
    files = {sibling.rfilename: sibling for sibling in found.siblings or ()}
    name = pick_file(list(files), source.file, repository=source.repository)
    size, stored = files[name].size, files[name].lfs
    sha256 = stored.sha256 if stored else None
    return replace(model, source=replace(source, file=name), size=size, sha256=sha256)


def answers_within(model: CatalogueModel, source: HubSource, *, seconds: float) -> bool:
    """Whether the hub describes the model within that time."""
    described = threading.Event()

    def ask() -> None:
        with suppress(ModelError, InputError):
            describe_hub_model(model, source)
            described.set()
        answered.set()

    answered = threading.Event()
    # A thread, because looking up a host name has no timeout of its own.
    threading.Thread(target=ask, name="ape-models-hub", daemon=True).start()
    answered.wait(seconds)
    return described.is_set()


def download_from_hub(model: CatalogueModel, source: HubSource, *, into: Path, progress: DownloadListener) -> Path:
    """Download the file into a folder, or copy it from the hub's own cache."""
    library = _library(source)
    what = f"Downloading {source.repository}:{source.file}"
    with (
        watch_folder(into, what, total=model.size, progress=progress),
        _translate_errors(library, source),
        _silent(library),
    ):
        path = library.hf_hub_download(source.repository, source.file, revision=source.revision, local_dir=into)
    return Path(path)


def pick_file(files: Sequence[str], query: str, *, repository: str) -> str:
    """Find a file by its name ("model-q8_0.gguf"), by its quantisation ("Q8_0"), or by default ("")."""
    models = [name for name in files if _is_complete_model(name)]
    if query in models:
        return query
    candidates = matching_files(models, query) or ([] if query else models)
    if len(candidates) == 1:
        return candidates[0]
    raise InputError(_describe_choice(files, models, query, repository), field="model")


def matching_files(files: Sequence[str], quantisation: str) -> list[str]:
    """The files with that quantisation, or the preferred one, in their names."""
    tag = (quantisation or PREFERRED_QUANTISATION).lower()
    return [name for name in files if tag in re.split(r"[-.]", PurePosixPath(name).stem.lower())]


def _describe_choice(files: Sequence[str], models: Sequence[str], query: str, repository: str) -> str:
    if models:
        missing = f"file {query!r}" if query else f"{PREFERRED_QUANTISATION} model"
        names = ", ".join(sorted(models))
        return f"{repository} has no single {missing}. Name one, as {repository}:FILE, of: {names}."
    if any(name.endswith(".gguf") for name in files):
        return (
            f"{repository} only has models split into parts. Download them, join them with llama.cpp's"
            " `llama-gguf-split --merge`, and give the path of the result."
        )
    return (
        f"{repository} has no GGUF file. Look for the same model with -GGUF in its name, or run this one"
        " on a server and set `url` to it."
    )


def _is_complete_model(name: str) -> bool:
    path = PurePosixPath(name)
    other = re.search(r"-\d{5}-of-\d{5}$", path.stem) or path.name.startswith(("mmproj", "imatrix"))
    return path.suffix == ".gguf" and ".." not in path.parts and not path.is_absolute() and not other


def _library(source: HubSource) -> ModuleType:
    # Imported by name, so that type checks do not depend on the extra; the package does not load these parts itself.
    try:
        for part in ("errors", "utils"):
            importlib.import_module(f"huggingface_hub.{part}")
        return importlib.import_module("huggingface_hub")
    except ImportError as error:
        raise ModelError(
            f"{source.repository} is on the Hugging Face hub, which needs another package:"
            ' `pip install "huggingface_hub>=1.0"`. Or download the file yourself and give its path.'
        ) from error


@contextmanager
def _silent(library: ModuleType) -> Iterator[None]:
    """Disable the progress bars of the library."""
    bars = library.utils
    if bars.are_progress_bars_disabled():
        yield
        return
    bars.disable_progress_bars()
    try:
        yield
    finally:
        bars.enable_progress_bars()


@contextmanager
def _translate_errors(library: ModuleType, source: HubSource) -> Iterator[None]:
    """Translate all errors of the library into ModelError, except those of the disk.

    Everything is caught because the underlying HTTP library, whose errors come through, has changed between releases.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
            raise
        raise ModelError(f"{_describe_error(library.errors, source, error)}{_manual_download_hint(source)}") from error


def _describe_error(errors: ModuleType, source: HubSource, error: Exception) -> str:
    where = f"{source.repository} at {source.revision}"
    if isinstance(error, errors.GatedRepoError):
        return (
            f"{source.repository} requires accepting its terms. Accept them on its page, then log in with"
            " `hf auth login`."
        )
    if isinstance(error, errors.RepositoryNotFoundError):
        return (
            f"The Hugging Face hub has no repository {source.repository} that you can access. Check the"
            " spelling, or log in with `hf auth login` if it is private."
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return f"{source.repository} has no revision {source.revision}."
    # LocalEntryNotFoundError, a subclass, means that the hub could not be reached.
    if isinstance(error, errors.EntryNotFoundError) and not isinstance(error, errors.LocalEntryNotFoundError):
        return f"{where} has no file {source.file}."
    if any(isinstance(each, errors.OfflineModeIsEnabled) for each in (error, error.__cause__)):
        return f"{where} is not on this machine, and HF_HUB_OFFLINE forbids downloading it."
    message = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    return f"{where} can't be downloaded from the Hugging Face hub: {message}. Check the connection and try again."


def _manual_download_hint(source: HubSource) -> str:
    return f" Or copy {source.file or 'the file'} from another machine and give its path."
