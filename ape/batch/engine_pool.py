"""The engines of one actor: a stretch goes to the least busy one, and an engine that died is opened again."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from ape.engines.protocol import Engine
from ape.jobs.run import open_book_engine
from ape.jobs.stretch_editor import EngineOutage
from ape.settings import Settings

log = logging.getLogger("ape.batch")

# How long an engine that died rests before it is tried again; doubled with every failure.
FIRST_REST_SECONDS = 1.0
LONGEST_REST_SECONDS = 30.0


@dataclass(slots=True)
class _Place:
    """An engine of the pool, open or resting."""

    settings: Settings
    engine: Engine | None = None
    busy: int = 0
    failures: int = 0
    rests_until: float = 0.0
    failure: str = ""
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    reopen: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)


class EnginePool:
    """Engines with the same models. Each is open, or resting after it died."""

    def __init__(self, settings: Sequence[Settings], *, concurrency: int, patience_seconds: float) -> None:
        self._places = [_Place(one) for one in settings]
        self._concurrency = concurrency
        self._patience = patience_seconds
        self._keepers: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Begin to open all engines."""
        self._keepers = [asyncio.create_task(self._keep_open(place)) for place in self._places]

    async def close(self) -> None:
        """Close all engines."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)

    async def _keep_open(self, place: _Place) -> None:
        """Open the engine, and again whenever it died. Its context is entered and left in this task."""
        while True:
            try:
                async with open_book_engine(place.settings, concurrency=self._concurrency) as engine:
                    place.engine = engine
                    place.reopen.clear()
                    place.opened.set()
                    await place.reopen.wait()
                    # Not closed under stretches that still use it: they would fail as by a defect of ours.
                    await place.idle.wait()
            except Exception as error:
                self._note_failure(place, str(error))
            place.engine = None
            await asyncio.sleep(max(0.0, place.rests_until - time.monotonic()))

    @asynccontextmanager
    async def engine(self) -> AsyncIterator[Engine]:
        """The least busy open engine; raises EngineOutage where none can be opened for long."""
        place, engine = await self._wait_for_engine()
        place.busy += 1
        place.idle.clear()
        try:
            yield engine
            place.failures = 0
        except EngineOutage as error:
            if place.engine is engine:  # another stretch may have noticed first
                self._note_failure(place, str(error))
                place.engine = None
                place.opened.clear()
                place.reopen.set()
            raise
        finally:
            place.busy -= 1
            if not place.busy:
                place.idle.set()

    async def _wait_for_engine(self) -> tuple[_Place, Engine]:
        began = time.monotonic()
        while True:
            found = [(place, place.engine) for place in self._places if place.engine is not None]
            if found:
                place, engine = min(found, key=lambda one: one[0].busy)
                return place, engine
            failures = [place.failure for place in self._places if place.failure]
            if failures and time.monotonic() - began > self._patience:
                raise EngineOutage(f"No engine answered for {self._patience:.0f} seconds: {failures[-1]}")
            waits = [asyncio.ensure_future(place.opened.wait()) for place in self._places]
            with suppress(TimeoutError):
                await asyncio.wait(waits, timeout=1.0, return_when=asyncio.FIRST_COMPLETED)
            for one in waits:
                one.cancel()

    def _note_failure(self, place: _Place, message: str) -> None:
        log.warning("An engine failed: %s", message)
        place.failure = message
        place.opened.clear()
        place.rests_until = time.monotonic() + min(FIRST_REST_SECONDS * 2**place.failures, LONGEST_REST_SECONDS)
        place.failures += 1
