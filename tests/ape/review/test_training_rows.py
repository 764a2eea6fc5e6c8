"""Reviewed paragraphs as training rows: only what people decided, with the text they left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ape.errors import InputError
from ape.jobs.job import Job
from ape.review.decisions import ReviewAction, ReviewDecision
from ape.review.store import ReviewStore
from ape.review.training_rows import write_training_rows
from tests.ape.review.conftest import TEXTS


def test_only_reviewed_paragraphs_become_rows(reviews: ReviewStore, job: Job, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with pytest.raises(InputError, match="Nothing of job"):
        write_training_rows(reviews, job, path)
    versions = {one.id: one.version for one in reviews.paragraphs(job.id)}
    decisions = [
        ReviewDecision("p0", versions["p0"], ReviewAction.REJECT),
        ReviewDecision("p1", versions["p1"], ReviewAction.ACCEPT),
        ReviewDecision("p3", versions["p3"], ReviewAction.CHANGE, text="She laughed about it."),
    ]
    reviews.decide(job, decisions, author="Anna")
    assert write_training_rows(reviews, job, path) == 3
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["human"] for row in rows] == [TEXTS[0][1], TEXTS[1][2], "She laughed about it."]
    assert {(row["source_language"], row["target_language"]) for row in rows} == {("fr", "en")}
