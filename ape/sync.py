"""Post-edit a passage from synchronous code: scripts, notebooks, an interactive prompt."""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from ape.engines.factory import open_engine
from ape.engines.protocol import Engine
from ape.passage.options import Options
from ape.passage.result import PostEdit
from ape.passage.segment import Segment
from ape.post_editor import post_edit
from ape.settings import Settings, load_settings

log = logging.getLogger("ape.engines")
T = TypeVar("T")


def edit(
    source: str,
    mt: str,
    *,
    source_language: str | None = None,
    target_language: str | None = None,
    model: str | None = None,
    glossary: Mapping[str, str] | None = None,
    instructions: str = "",
    **options: Any,
) -> PostEdit:
    """Post-edit one passage with the engine of the settings; languages are detected if left out.

    `model` is the model of the engine, as in the settings; `options` are fields of `Options`, such as `temperature`.
    The engine stays open for the next call with the same settings and is closed at exit. Works inside a running event
    loop too, as in notebooks. Raises as `post_edit` does.
    """
    segment = Segment(
        source,
        mt,
        source_language or "",
        target_language or "",
        glossary=tuple((glossary or {}).items()),
        instructions=instructions,
    )
    chosen = Options(**options)
    settings = load_settings(model=model)
    with _LOCK:
        return _ENGINE.run(_ENGINE.post_edit(segment, chosen, settings))


class _OpenEngine:
    """An engine that stays open between calls, on an event loop in its own thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stack = AsyncExitStack()
        self._settings: Settings | None = None
        self._engine: Engine | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for its result; Ctrl-C cancels it."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="ape-engine", daemon=True).start()
            atexit.register(self._close_at_exit)  # daemon threads still run at this point
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def post_edit(self, segment: Segment, options: Options, settings: Settings) -> PostEdit:
        """Post-edit with the engine of the settings; close the previous one if the settings differ."""
        if self._engine is None or settings != self._settings:
            await self.close()
            self._engine = await self._stack.enter_async_context(open_engine(settings, log_line=log.info))
            self._settings = settings
        return await post_edit(segment, self._engine, options=options)

    async def close(self) -> None:
        """Close the engine, if one is open."""
        self._engine = self._settings = None
        await self._stack.aclose()

    def _close_at_exit(self) -> None:
        self.run(self.close())


_LOCK = threading.Lock()
_ENGINE = _OpenEngine()
