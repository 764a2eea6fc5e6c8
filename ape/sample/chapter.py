"""Edit the sample chapters as a book is edited: the ledger first, then the model with the cast of each passage."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ape.engines.protocol import Engine
from ape.jobs.book_names import BookNames, NameWindow, with_repair
from ape.jobs.job_paragraph import PlannedParagraph
from ape.ledger.repair import LedgerRepair
from ape.passage.result import PostEdit
from ape.passage.segment import Segment
from ape.post_editor import post_edit
from ape.sample import Sample

# Paragraphs before one that may hold the antecedent of its pronouns.
_WINDOW = 3


@dataclass(frozen=True, slots=True)
class PreparedParagraph:
    """A paragraph after the ledger, and the passage for the model."""

    planned: PlannedParagraph
    repair: LedgerRepair
    segment: Segment
    names: BookNames


@dataclass(frozen=True, slots=True)
class EditedParagraph:
    """A paragraph and its result, as an edit of the original MT."""

    planned: PlannedParagraph
    repair: LedgerRepair
    result: PostEdit


def prepare_chapters(samples: Sequence[Sample], *, first: int | None = None) -> list[PreparedParagraph]:
    """Build the ledger of each chapter and repair its names; no model is used.

    With `first`, only so many paragraphs of each chapter; the ledger knows all of them.
    """
    prepared: list[PreparedParagraph] = []
    for chapter, sample in enumerate(samples):
        names = BookNames(sample.ledger())
        window = NameWindow(_WINDOW)
        for paragraph, segment in islice(zip(sample.paragraphs, sample.segments(), strict=True), first):
            planned = PlannedParagraph(
                f"{sample.name}/{paragraph.id}",
                len(prepared),
                chapter,
                sample.title,
                chapter,
                segment.source,
                segment.mt,
            )
            before = window.before(chapter)
            repair = names.repair(planned, before)
            cast = names.cast(planned.source, [one.source for one in before])
            prepared.append(PreparedParagraph(planned, repair, replace(segment, mt=repair.text, cast=cast), names))
            window.add(planned)
    return prepared


async def edit_chapters(
    prepared: Sequence[PreparedParagraph], engine: Engine, *, listen: Callable[[EditedParagraph], None]
) -> list[EditedParagraph]:
    """Post-edit all paragraphs concurrently; `listen` is called after each."""

    async def edit(one: PreparedParagraph) -> EditedParagraph:
        result = await post_edit(one.segment, engine)
        edited = EditedParagraph(
            one.planned, one.repair, with_repair(result, one.planned, one.repair, one.segment.target_language)
        )
        listen(edited)
        return edited

    return list(await asyncio.gather(*map(edit, prepared)))
