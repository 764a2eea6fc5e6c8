"""Progress bars of libraries, which they draw where there is no terminal too; ours are in `ape/cli`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def hide_progress_bars() -> Iterator[None]:
    """None of transformers meanwhile: one of its modules takes tqdm's own, and does not ask whether it may."""
    from transformers import modeling_gguf_pytorch_utils
    from transformers.utils import logging

    bars: Any = logging
    unpacking: Any = modeling_gguf_pytorch_utils
    shown, drawn = bars.is_progress_bar_enabled(), unpacking.tqdm
    bars.disable_progress_bar()
    unpacking.tqdm = _undrawn
    try:
        yield
    finally:
        unpacking.tqdm = drawn
        if shown:
            bars.enable_progress_bar()


def _undrawn(items: Iterable[Any], **_: object) -> Iterable[Any]:
    return items
