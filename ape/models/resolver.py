"""From what a user types as a model to the file that is loaded.

    smollm2-135m                          a name of the catalogue
    ./model.gguf                          a file of one's own
    owner/repository:file.gguf            a file of the Hugging Face hub
    owner/repository:Q8_0                 its only file of that quantisation
    owner/repository                      its only Q4_K_M, else its only model
    owner/repository@revision:file.gguf   a file of that commit, branch or tag, instead of main

A file that exists wins over the hub; `hf:` before the owner says that the hub is meant.
"""

from __future__ import annotations

import re
from pathlib import Path

from ape.errors import InputError
from ape.models.catalogue import CATALOGUE, CatalogueModel, HubSource, find_model
from ape.models.checksum import require_gguf
from ape.models.progress import DownloadListener, ignore_progress
from ape.models.store import choose_model_file, is_cached, model_location, pull_model

_NAME = r"\w[\w.-]*"
_HUB_ID = re.compile(
    rf"(?P<repository>{_NAME}/{_NAME})(@(?P<revision>{_NAME}))?(:(?P<file>{_NAME}(/{_NAME})*))?", re.ASCII
)


def parse_model(text: str) -> CatalogueModel | Path:
    """The model of the catalogue or of the hub, or the path, that is meant."""
    if not text.strip():
        raise InputError("No model is named.", field="model")
    if text in CATALOGUE:
        return CATALOGUE[text]
    path = _path(text)
    on_the_hub = _HUB_ID.fullmatch(text.removeprefix("hf:"))
    if on_the_hub and (text.startswith("hf:") or not _is_a_path(text, path)):
        repository, revision, file = on_the_hub.group("repository", "revision", "file")
        return CatalogueModel(text, HubSource(repository, file or "", revision or "main"))
    return path if _is_a_path(text, path) or "/" in text or "\\" in text else find_model(text)


def resolve_model(text: str, *, cache: Path, progress: DownloadListener = ignore_progress) -> Path:
    """The file of the model that is meant, pulled into the cache if it is not there yet."""
    meant = parse_model(text)
    if isinstance(meant, Path):
        require_gguf(meant)
        return meant
    model = choose_model_file(meant, cache=cache)
    if is_cached(model, cache=cache):
        return model_location(model, cache=cache)
    return pull_model(model, cache=cache, progress=progress)


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # "~nobody/model.gguf"
        return Path(text)


def _is_a_path(text: str, path: Path) -> bool:
    try:
        return path.exists() or (path.suffix == ".gguf" and ":" not in text)
    except (OSError, ValueError):  # longer than a file name may be, or with a null byte
        return False
