"""Open the trials of the job store on first use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ape.settings import Settings

if TYPE_CHECKING:
    from eval.human.trial_store import TrialStore

T = TypeVar("T")
TrialQuery: TypeAlias = "Callable[[TrialStore], T]"


class LazyTrialStore:
    """Run queries on the trials in a worker thread."""

    def __init__(self, settings: Settings, trials: TrialStore | None = None) -> None:
        self._settings = settings
        self._trials = trials
        self._owns_trials = trials is None
        self._lock = asyncio.Lock()

    async def run(self, query: TrialQuery[T]) -> T:
        """Run a query and return its result."""
        trials = await self._open()
        return await asyncio.to_thread(query, trials)

    async def _open(self) -> TrialStore:
        async with self._lock:
            if self._trials is None:
                from eval.human.trial_store import TrialStore

                self._trials = await asyncio.to_thread(TrialStore, self._settings.jobs_url)
        return self._trials

    def close(self) -> None:
        """Close the database if it was opened here."""
        if self._owns_trials and self._trials is not None:
            self._trials.close()
            self._trials = None
