"""Records of stretches in progress: each finished paragraph is kept at once, so that no kill loses it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ape.batch.folder import QUARANTINE, RECORDS, BatchFolder
from ape.batch.rows import BatchStretch, FinishedParagraph
from ape.errors import EngineError, InputError
from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.jobs.model_check import SameModelEngine
from ape.jobs.stretch_editor import check_server
from ape.passage.result import PostEdit


@dataclass(slots=True)
class StretchProgress:
    """The finished paragraphs of a stretch, by id, and the reasons of those that failed too often."""

    results: dict[str, FinishedParagraph] = field(default_factory=dict)
    quarantined: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: BatchFolder, name: str) -> StretchProgress | None:
        """Read a record, or None if there is none."""
        stored = folder.read_json(name)
        if stored is None:
            return None
        results = [FinishedParagraph.from_json(one) for one in stored["results"]]
        return cls({one.id: one for one in results}, stored["quarantined"])

    def write(self, folder: BatchFolder, name: str) -> None:
        """Write the record."""
        results = [one.to_json() for one in self.results.values()]
        folder.write_json(name, {"results": results, "quarantined": self.quarantined})

    def rows(self, stretch: BatchStretch) -> list[JobParagraph]:
        """The paragraphs of the stretch; those without a result wait, unless they are skipped."""
        return [self._row(stretch, place) for place in range(len(stretch.paragraphs))]

    def _row(self, stretch: BatchStretch, place: int) -> JobParagraph:
        planned = stretch.paragraphs[place]
        if planned.skip:
            return JobParagraph(planned, ParagraphState.SKIPPED, reason=planned.skip)
        found = self.results.get(planned.id)
        if found and found.fingerprint == planned.fingerprint:
            return JobParagraph(planned, ParagraphState.DONE, found.result, seconds=found.seconds)
        return JobParagraph(planned, ParagraphState.WAITING)


@dataclass(slots=True)
class StretchFile:
    """Keeps the results of one stretch in a file of the batch, under its id."""

    folder: BatchFolder
    stretch: BatchStretch
    progress: StretchProgress
    engine: SameModelEngine
    max_failures: int
    on_progress: Callable[[int, int], None] = lambda done, failed: None
    failures: int = 0

    async def save(self, row: JobParagraph, result: PostEdit, *, seconds: float) -> JobParagraph:
        """Keep the result."""
        self.failures = 0
        planned = row.planned
        self.progress.results[planned.id] = FinishedParagraph(planned.id, planned.fingerprint, result, seconds)
        # Written even when the task is cancelled.
        await asyncio.shield(asyncio.to_thread(self.progress.write, self.folder, f"{RECORDS}/{self.stretch.id}.json"))
        self.on_progress(1, 0)
        return replace(row, state=ParagraphState.DONE, result=result, seconds=seconds)

    async def fail(self, row: JobParagraph, error: EngineError | InputError) -> JobParagraph | None:
        """Count a failure; a failing server is not a bad paragraph, and raises EngineOutage."""
        self.failures += 1
        if isinstance(error, EngineError):
            if self.failures < self.max_failures:
                return None
            await check_server(self.engine, self.stretch.recipe.model)
        self.failures = 0
        self.progress.quarantined[row.planned.id] = str(error)
        self.on_progress(0, 1)
        return replace(row, state=ParagraphState.QUARANTINED, reason=str(error))


def read_progress(folder: BatchFolder, id: str) -> StretchProgress:
    """What is known of a stretch that is not in the results: paragraphs in quarantine wait again."""
    found = StretchProgress()
    for place in (QUARANTINE, RECORDS):
        if known := StretchProgress.read(folder, f"{place}/{id}.json"):
            found.results |= known.results
    return found


def quarantine(folder: BatchFolder, id: str, progress: StretchProgress) -> None:
    """Keep a stretch apart that has paragraphs in quarantine, with its finished ones."""
    progress.write(folder, f"{QUARANTINE}/{id}.json")
    folder.delete(f"{RECORDS}/{id}.json")


def delete_committed(folder: BatchFolder, committed: set[str]) -> None:
    """Delete the records of stretches that are in the results."""
    for place in (RECORDS, QUARANTINE):
        for stretch in folder.ids(place):
            if stretch in committed:
                folder.delete(f"{place}/{stretch}.json")
