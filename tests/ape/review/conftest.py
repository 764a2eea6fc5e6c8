"""A small book under review, on SQLite and on PostgreSQL."""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from ape.edits.diff import edit_rate, find_edits
from ape.jobs.job import Job, JobState
from ape.jobs.job_paragraph import PlannedParagraph
from ape.jobs.store import JobStore
from ape.passage.result import Decision, Finding, PostEdit, Usage
from ape.review.store import ReviewStore
from tests.ape.jobs.conftest import empty_database, postgres, shared_database, store, store_url  # noqa: F401
from tests.ape.jobs.job_factory import RECIPE, a_job

# Source, MT, post-edit.
TEXTS = (
    (
        "Anne posa sa lampe.",
        "Anne put his lamp down on the kitchen table.",
        "Anne put her lamp down on the kitchen table.",
    ),
    ("Il pleuvait.", "It rained on the town all night long.", "It was raining on the town all night long."),
    ("Le chien dormait.", "The dog was sleeping on the rug.", "The dog slept on the rug."),
    ("Elle rit.", "She laughs about it.", "She laughs about it."),
    (
        "Le vieux gardien ferma la porte du phare sans un mot.",
        "The old guard has closed the door of the light, with no word.",
        "Without saying a word to anybody at all, the keeper went and shut the lighthouse for the night.",
    ),
)


def a_post_edit(mt: str, text: str, *findings: Finding) -> PostEdit:
    decision = Decision.EDITED if text != mt else Decision.UNCHANGED
    edits, rate = find_edits(mt, text), edit_rate(mt, text)
    return PostEdit(uuid.uuid4().hex, text, decision, findings, edits, rate, "model", "chat@0", Usage(30, 10), 1)


def a_paragraph(number: int, source: str, mt: str, *, skip: str = "") -> PlannedParagraph:
    fingerprint = "" if skip else RECIPE.fingerprint(source, mt)
    return PlannedParagraph(
        f"p{number}", number, number // 3, f"Chapter {number // 3}", number // 3, source, mt, skip=skip,
        fingerprint=fingerprint,
    )  # fmt: skip


def fill(
    jobs: JobStore,
    texts: tuple[tuple[str, str, str], ...] = TEXTS,
    *,
    id: str = "j",
    owner: str = "",
    output: Path = Path("o.epub"),
) -> Job:
    """A finished job whose paragraphs all have results."""
    job = replace(a_job(id, owner=owner), output=str(output), state=JobState.DONE)
    plan = [a_paragraph(number, source, mt) for number, (source, mt, _) in enumerate(texts)]
    jobs.add(job)
    jobs.add_results(id, [(one, a_post_edit(one.mt, text[2]), 1.0) for one, text in zip(plan, texts, strict=True)])
    jobs.plan(id, [*plan, a_paragraph(len(plan), "***", "***", skip="no words")])
    return job


@pytest.fixture
def job(store: JobStore) -> Job:  # noqa: F811
    return fill(store)


@pytest.fixture
def reviews(store: JobStore, job: Job) -> ReviewStore:  # noqa: F811
    return ReviewStore(store)
