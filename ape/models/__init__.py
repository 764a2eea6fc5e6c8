"""Models: the catalogue, downloads and the model cache."""

from ape.models.catalogue import (
    CATALOGUE,
    DEFAULT_MODEL,
    LARGE_MODEL,
    TUNED_FOLDER,
    TUNED_MODEL,
    CatalogueModel,
    HubSource,
    WheelPart,
    WheelParts,
    WheelSource,
    find_model,
)
from ape.models.progress import DownloadListener, DownloadProgress, ignore_progress
from ape.models.resolver import parse_model, resolve_model
from ape.models.store import ModelListing, is_cached, list_models, model_location, pull_model, verify_model

__all__ = [
    "CATALOGUE",
    "DEFAULT_MODEL",
    "LARGE_MODEL",
    "TUNED_FOLDER",
    "TUNED_MODEL",
    "CatalogueModel",
    "DownloadListener",
    "DownloadProgress",
    "HubSource",
    "ModelListing",
    "WheelPart",
    "WheelParts",
    "WheelSource",
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
