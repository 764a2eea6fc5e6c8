"""Post-edit the paragraphs of a stretch in order, each with the ones before it as context.

Where results and failures are kept is the caller's: in the job store, or in the files of a batch.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

from ape.engines.protocol import Engine
from ape.errors import ApeError, EngineError, InputError, KeyRefused
from ape.jobs.book_names import NAMES_ONLY, BookNames, NameWindow, names_only_result, with_repair
from ape.jobs.context import ContextWindow
from ape.jobs.job import JobRecipe
from ape.jobs.job_paragraph import JobParagraph, ParagraphState, PlannedParagraph
from ape.ledger.repair import LedgerRepair
from ape.passage.options import Options
from ape.passage.result import PostEdit
from ape.passage.segment import Context, Segment
from ape.post_editor import post_edit

log = logging.getLogger("ape.jobs")

# Guards whose warnings are about the model, not the paragraph.
_MODEL_WARNINGS = ("languages", "format")
# A passage that any model can post-edit, to check that the server answers.
PROBE_SEGMENT = Segment("…", "He came in and sat down.", source_language="und", target_language="en")


class EngineOutage(EngineError):
    """The model server fails on every request."""


class StretchLost(Exception):
    """Another worker has taken over the stretch."""


class StretchRecord(Protocol):
    """Keeps the results and failures of one stretch."""

    async def save(self, row: JobParagraph, result: PostEdit, *, seconds: float) -> JobParagraph:
        """Keep the result and return the finished paragraph; raises StretchLost."""
        ...

    async def fail(self, row: JobParagraph, error: EngineError | InputError) -> JobParagraph | None:
        """Count a failure: None to try again, or the paragraph in quarantine; raises StretchLost or EngineOutage."""
        ...


@dataclass(slots=True)
class StretchEditor:
    """Post-edits stretches with one recipe, and the names of one book if it has any.

    `reported` holds the warnings about the model that a paragraph has already; it may be shared.
    """

    recipe: JobRecipe
    engine: Engine
    names: BookNames | None = None
    max_failures: int = 3
    reported: set[str] = field(default_factory=set)
    options: Options = field(init=False)

    def __post_init__(self) -> None:
        self.options = self.recipe.options()

    async def edit(
        self, rows: Iterable[JobParagraph], before: Iterable[PlannedParagraph], record: StretchRecord
    ) -> list[JobParagraph]:
        """Post-edit the waiting paragraphs of a stretch in order and return all of its paragraphs.

        `before` are the paragraphs just before it in the same chapter.
        """
        before, found = tuple(before), []
        earlier, window = ContextWindow(self.recipe.context, before), NameWindow(self.recipe.context, before)
        for row in rows:
            if row.state is ParagraphState.WAITING:
                row = await self._edit(row, earlier.pairs, window.before(row.planned.chapter), record)
            earlier.add(row)
            window.add(row.planned)
            found.append(row)
        return found

    async def _edit(
        self,
        row: JobParagraph,
        context: tuple[Context, ...],
        before: tuple[PlannedParagraph, ...],
        record: StretchRecord,
    ) -> JobParagraph:
        """Post-edit one paragraph; after too many failures it keeps the MT and the reason."""
        segment = paragraph_segment(row, self.recipe, context)
        repair = None
        if self.names:
            repair = self.names.repair(row.planned, before)
            cast = self.names.cast(row.planned.source, [one.source for one in before])
            segment = replace(segment, mt=repair.text, cast=cast)
        for _ in range(self.max_failures):
            began = time.monotonic()
            try:
                result = await self._result(segment, row.planned, repair)
            except KeyRefused as error:
                raise EngineOutage(f"{error} All finished paragraphs are saved.") from error
            except ApeError as error:
                if not isinstance(error, EngineError | InputError):
                    raise
                failure: EngineError | InputError = error
            except Exception as error:
                log.exception("Paragraph %s", row.planned.id)
                failure = InternalFailure(f"Internal error, please report it: {type(error).__name__}: {error}")
            else:
                return await record.save(row, result, seconds=time.monotonic() - began)
            if quarantined := await record.fail(row, failure):
                return quarantined
        raise StretchLost

    async def _result(self, segment: Segment, planned: PlannedParagraph, repair: LedgerRepair | None) -> PostEdit:
        """The result of a paragraph: the ledger first, then the model unless the job is without one."""
        language = self.recipe.target_language
        if self.recipe.model == NAMES_ONLY:
            return names_only_result(planned, repair or LedgerRepair(planned.mt), language)
        result = self._warn_once(await post_edit(segment, self.engine, options=self.options))
        return with_repair(result, planned, repair, language) if repair else result

    def _warn_once(self, result: PostEdit) -> PostEdit:
        """Keep a warning about the model under the first paragraph alone: it is the same for all."""
        repeated = [one for one in result.findings if one.guard in _MODEL_WARNINGS and one.message in self.reported]
        self.reported |= {one.message for one in result.findings if one.guard in _MODEL_WARNINGS}
        if not repeated:
            return result
        return replace(result, findings=tuple(one for one in result.findings if one not in repeated))


class InternalFailure(InputError):
    """A defect of ours that a paragraph brought to light."""


def paragraph_segment(row: JobParagraph, recipe: JobRecipe, context: tuple[Context, ...] = ()) -> Segment:
    """The paragraph as a passage for the model."""
    return Segment(
        source=row.planned.source,
        mt=row.planned.mt,
        source_language=recipe.source_language,
        target_language=recipe.target_language,
        context=context,
        glossary=recipe.glossary,
        instructions=recipe.instructions,
    )


async def check_server(engine: Engine, model: str) -> None:
    """Raise EngineOutage where the server gives no draft: many still list their models when they no longer do."""
    try:
        await post_edit(PROBE_SEGMENT, engine, options=Options(model=model, max_attempts=1))
    except EngineError as error:
        raise EngineOutage(f"The model server no longer answers: {error} All finished paragraphs are saved.") from error
