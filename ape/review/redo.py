"""Edit one paragraph of a book again, with an instruction of the reviewer."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from ape.engines.protocol import Engine
from ape.errors import Conflict, InputError
from ape.jobs.book_names import NAMES_ONLY, BookNames, NameWindow, with_repair
from ape.jobs.context import ContextWindow
from ape.jobs.job import Job
from ape.jobs.stretch_editor import paragraph_segment
from ape.passage.result import PostEdit
from ape.passage.segment import Segment
from ape.post_editor import post_edit
from ape.review.decisions import ReviewAction, ReviewDecision, refuse_skipped
from ape.review.filters import ReviewFilter
from ape.review.paragraph import ReviewParagraph
from ape.review.store import ReviewStore, refuse_stale

MAX_INSTRUCTION = 2_000


async def redo_paragraph(
    reviews: ReviewStore, job: Job, engine: Engine, id: str, version: str, *, instruction: str, author: str
) -> ReviewParagraph:
    """Ask the model again and store its result; raises ReviewConflict where the paragraph changed meanwhile."""
    if len(instruction) > MAX_INSTRUCTION:
        raise InputError(f"The instruction has more than {MAX_INSTRUCTION:,} characters.", field="instruction")
    if job.recipe.model == NAMES_ONLY:
        raise Conflict("This book was edited by its names alone, without a model: there is none to ask again.")
    known, before = await asyncio.to_thread(_read, reviews, job, id)
    refuse_skipped(known)
    refuse_stale({id: known}, [ReviewDecision(id, version, ReviewAction.REDO)])
    began = time.monotonic()
    result = await _ask(job, engine, known, before, instruction)
    seconds = time.monotonic() - began
    return await asyncio.to_thread(
        reviews.redo, job, id, version, result, author=author, instruction=instruction, seconds=seconds
    )


def _read(reviews: ReviewStore, job: Job, id: str) -> tuple[ReviewParagraph, list[ReviewParagraph]]:
    """The paragraph, and those before it in its chapter that the model is shown."""
    known = reviews.paragraph(job.id, id)
    planned = known.row.planned
    first = max(-1, planned.position - job.recipe.context - 20)
    near = reviews.paragraphs(job.id, ReviewFilter(chapter=planned.chapter), after=first, with_comments=False)
    before = []
    for one in near:
        if one.row.planned.position >= planned.position:
            break
        before.append(one)
    return known, before


async def _ask(
    job: Job, engine: Engine, known: ReviewParagraph, before: list[ReviewParagraph], instruction: str
) -> PostEdit:
    recipe, planned = job.recipe, known.row.planned
    context, window = ContextWindow(recipe.context), NameWindow(recipe.context)
    for one in before:
        context.add_text(one.row.planned, one.text)
        window.add(one.row.planned)
    wishes = "\n".join(filter(None, [recipe.instructions, instruction.strip()]))
    segment: Segment = replace(paragraph_segment(known.row, recipe, context.pairs), instructions=wishes)
    names = BookNames.from_json(job.names)
    if not names:
        return await post_edit(segment, engine, options=recipe.options())
    earlier = window.before(planned.chapter)
    repair = names.repair(planned, earlier)
    cast = names.cast(planned.source, [one.source for one in earlier])
    result = await post_edit(replace(segment, mt=repair.text, cast=cast), engine, options=recipe.options())
    return with_repair(result, planned, repair, recipe.target_language)
