"""Models: the catalogue, and how a model file gets onto this machine."""

from ape.models.catalogue import (
    CATALOGUE,
    DEFAULT_MODEL,
    TUNED_FOLDER,
    TUNED_MODEL,
    HubSource,
    Model,
    WheelSource,
    find,
)
from ape.models.progress import Progress, Step, quiet
from ape.models.resolve import parse, resolve
from ape.models.store import Entry, default_cache, entries, is_cached, location, pull, verify

__all__ = [
    "CATALOGUE",
    "DEFAULT_MODEL",
    "TUNED_FOLDER",
    "TUNED_MODEL",
    "Entry",
    "HubSource",
    "Model",
    "Progress",
    "Step",
    "WheelSource",
    "default_cache",
    "entries",
    "find",
    "is_cached",
    "location",
    "parse",
    "pull",
    "quiet",
    "resolve",
    "verify",
]
