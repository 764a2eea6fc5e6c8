"""Models: the catalogue, and how a model file gets onto this machine."""

from ape.models.catalogue import (
    CATALOGUE,
    DEFAULT_MODEL,
    TUNED_FOLDER,
    TUNED_MODEL,
    CatalogueModel,
    HubSource,
    WheelSource,
    find_model,
)
from ape.models.progress import DownloadListener, DownloadProgress, ignore_progress
from ape.models.resolver import parse_model, resolve_model
from ape.models.store import (
    ModelListing,
    default_cache,
    is_cached,
    list_models,
    model_location,
    pull_model,
    verify_model,
)

__all__ = [
    "CATALOGUE",
    "DEFAULT_MODEL",
    "TUNED_FOLDER",
    "TUNED_MODEL",
    "CatalogueModel",
    "DownloadListener",
    "DownloadProgress",
    "HubSource",
    "ModelListing",
    "WheelSource",
    "default_cache",
    "find_model",
    "ignore_progress",
    "is_cached",
    "list_models",
    "model_location",
    "parse_model",
    "pull_model",
    "resolve_model",
    "verify_model",
]
