"""Suppress the progress bars of transformers; ours are in `ape/cli`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def hide_progress_bars() -> Iterator[None]:
    """Disable them within the block; its GGUF module uses tqdm directly and ignores its own switch."""
    from transformers import modeling_gguf_pytorch_utils
    from transformers.utils import logging

    bars: Any = logging
    gguf: Any = modeling_gguf_pytorch_utils
    enabled, tqdm = bars.is_progress_bar_enabled(), gguf.tqdm
    bars.disable_progress_bar()
    gguf.tqdm = _without_bar
    try:
        yield
    finally:
        gguf.tqdm = tqdm
        if enabled:
            bars.enable_progress_bar()


def _without_bar(items: Iterable[Any], **_: object) -> Iterable[Any]:
    return items
