"""Automatic post-editing of machine-translated books.

    import ape

    result = ape.edit("Il pleut des cordes.", "It rains ropes.")
    print(result.post_edit, result.decision)

`edit` and `edit_book` are synchronous; `post_edit` with `open_engine` is the asynchronous core. Everything is imported
on first use, so that `import ape` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ape.engines.factory import open_engine
    from ape.errors import (
        AdapterRefused,
        ApeError,
        Busy,
        Conflict,
        EngineError,
        EngineRefused,
        EngineTimeout,
        EngineUnavailable,
        InputError,
        KeyRefused,
        ModelError,
        NoRoom,
        StoreError,
        TooLong,
        UnknownJob,
        UnknownModel,
        UnknownTrial,
    )
    from ape.jobs.run import edit_book
    from ape.passage.options import Options
    from ape.passage.result import PostEdit
    from ape.passage.segment import Context, Segment
    from ape.post_editor import post_edit
    from ape.settings import Settings, load_settings
    from ape.sync import edit

__all__ = [
    "AdapterRefused",
    "ApeError",
    "Busy",
    "Conflict",
    "Context",
    "EngineError",
    "EngineRefused",
    "EngineTimeout",
    "EngineUnavailable",
    "InputError",
    "KeyRefused",
    "ModelError",
    "NoRoom",
    "Options",
    "PostEdit",
    "Segment",
    "Settings",
    "StoreError",
    "TooLong",
    "UnknownJob",
    "UnknownModel",
    "UnknownTrial",
    "edit",
    "edit_book",
    "load_settings",
    "open_engine",
    "post_edit",
]

_MODULES = {
    "Context": "ape.passage.segment",
    "Options": "ape.passage.options",
    "PostEdit": "ape.passage.result",
    "Segment": "ape.passage.segment",
    "Settings": "ape.settings",
    "edit": "ape.sync",
    "edit_book": "ape.jobs.run",
    "load_settings": "ape.settings",
    "open_engine": "ape.engines.factory",
    "post_edit": "ape.post_editor",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use; all others are errors of `ape.errors`."""
    if name not in __all__:
        raise AttributeError(f"module 'ape' has no attribute {name!r}")
    return getattr(import_module(_MODULES.get(name, "ape.errors")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
