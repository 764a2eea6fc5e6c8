"""The trials of the job store, opened when somebody first asks for them and closed when the service stops."""

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
    """Where routes find the trials. What they ask of the database is done in a thread."""

    def __init__(self, settings: Settings, trials: TrialStore | None = None) -> None:
        self._settings = settings
        self._trials = trials
        self._is_ours = trials is None
        self._opening = asyncio.Lock()

    async def ask(self, work: TrialQuery[T]) -> T:
        """What becomes of the work on the trials."""
        trials = await self._opened()
        return await asyncio.to_thread(work, trials)

    async def _opened(self) -> TrialStore:
        async with self._opening:
            if self._trials is None:
                from eval.human.trial_store import TrialStore

                self._trials = await asyncio.to_thread(TrialStore, self._settings.jobs_url)
        return self._trials

    def close(self) -> None:
        """Let go of the database, if it was opened here."""
        if self._is_ours and self._trials is not None:
            self._trials.close()
            self._trials = None
