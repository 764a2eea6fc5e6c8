"""Resolve a model as typed by a user to a file.

    smollm2-135m                          a name of the catalogue
    ./model.gguf                          a local file
    owner/repository:file.gguf            a file of the Hugging Face hub
    owner/repository:Q8_0                 its only file of that quantisation
    owner/repository                      its only Q4_K_M file, else its only model
    owner/repository@revision:file.gguf   a file of that commit, branch or tag instead of main

An existing file has precedence over the hub; the prefix `hf:` always means the hub.
"""

from __future__ import annotations

import re
from pathlib import Path

from ape.errors import InputError
from ape.models.catalogue import CATALOGUE, CatalogueModel, HubSource, find_model
from ape.models.checksum import require_gguf
from ape.models.progress import DownloadListener, ignore_progress
from ape.models.store import choose_model_file, is_cached, pull_model, require_unchanged

_NAME = r"\w[\w.-]*"
_HUB_ID = re.compile(
    rf"(?P<repository>{_NAME}/{_NAME})(@(?P<revision>{_NAME}))?(:(?P<file>{_NAME}(/{_NAME})*))?", re.ASCII
)


def parse_model(text: str) -> CatalogueModel | Path:
    """Parse a model: one of the catalogue or the hub, or a path."""
    if not text.strip():
        raise InputError("The name of the model is empty.", field="model")
    if text in CATALOGUE:
        return CATALOGUE[text]
    path = _path(text)
    hub_id = _HUB_ID.fullmatch(text.removeprefix("hf:"))
    if hub_id and (text.startswith("hf:") or not _is_path(text, path)):
        repository, revision, file = hub_id.group("repository", "revision", "file")
        return CatalogueModel(text, HubSource(repository, file or "", revision or "main"))
    return path if _is_path(text, path) or "/" in text or "\\" in text else find_model(text)


def resolve_model(
    text: str, *, cache: Path, progress: DownloadListener = ignore_progress, source: str | None = None
) -> Path:
    """The file of a model, downloaded into the cache, or taken from `source`, if it is not there.

    A downloaded file that was changed since is refused.
    """
    parsed = parse_model(text)
    if isinstance(parsed, Path):
        require_gguf(parsed)
        return parsed
    model = choose_model_file(parsed, cache=cache)
    if is_cached(model, cache=cache):
        return require_unchanged(model, cache=cache, progress=progress)
    return pull_model(model, cache=cache, progress=progress, source=source)


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # "~nobody/model.gguf"
        return Path(text)


def _is_path(text: str, path: Path) -> bool:
    try:
        return path.exists() or (path.suffix == ".gguf" and ":" not in text)
    except (OSError, ValueError):  # too long for a file name, or with a null byte
        return False
