"""Reviewed paragraphs as training rows: what people accepted and corrected is what a model should write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ape.errors import InputError
from ape.files.atomic import write_text_atomic
from ape.jobs.job import Job
from ape.review.paragraph import ReviewParagraph
from ape.review.store import ReviewStore


def is_reviewed(one: ReviewParagraph) -> bool:
    """Whether a person decided about everything in the paragraph, or wrote its text."""
    edits = one.edits
    return bool(one.row.planned.source.strip()) and (
        one.is_own_text or (bool(edits) and all(edit.decided for edit in edits))
    )


def training_rows(reviews: ReviewStore, job: Job) -> Iterator[dict[str, str]]:
    """A row for each reviewed paragraph; a rejected edit leaves the MT in `human`, which labels that edit as wrong."""
    for one in reviews.paragraphs(job.id, with_comments=False):
        if is_reviewed(one):
            planned = one.row.planned
            yield {
                "id": f"{job.id}/{one.id}",
                "book": job.name or job.id,
                "source": planned.source,
                "mt": planned.mt,
                "human": one.text,
                "source_language": job.recipe.source_language,
                "target_language": job.recipe.target_language,
            }


def write_training_rows(reviews: ReviewStore, job: Job, path: Path) -> int:
    """Write the rows as JSON Lines and return their number; raises InputError where nothing was reviewed."""
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in training_rows(reviews, job)]
    if not lines:
        raise InputError(
            f"Nothing of job {job.id} was reviewed yet: a paragraph counts once every edit in it is decided.",
            field="reviews",
        )
    write_text_atomic(path, lines)
    return len(lines)
