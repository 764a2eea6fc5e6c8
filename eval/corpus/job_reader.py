"""Reader for finished book jobs: the MT and each job's post-edit as systems, the chapters as documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from ape.errors import InputError
from ape.jobs.job import Job
from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.jobs.store import JobStore
from eval.corpus.corpus import Corpus
from eval.corpus.raw_document import RawDocument, TextLines
from eval.corpus.reader import add_reference
from eval.corpus.validation import CorpusRules, build_corpus

MT_SYSTEM = "mt"


def read_jobs(
    store: JobStore, ids: Sequence[str], *, references: Sequence[Path] = (), rules: CorpusRules | None = None
) -> Corpus:
    """Read the MT and the post-edits of one book from its jobs; a reference has one line for each paragraph.

    Paragraphs without a source or without MT are left out. Unfinished jobs are refused.
    """
    rules = rules or CorpusRules()
    jobs = [store.job(name) for name in ids]
    paragraphs = [_finished(store, job) for job in jobs]
    for job, rows in zip(jobs[1:], paragraphs[1:], strict=True):
        _check_same(jobs[0], paragraphs[0], job, rows)
    names = _names(jobs)
    given = []
    for _, run in groupby(range(len(paragraphs[0])), key=lambda at: paragraphs[0][at].planned.chapter):
        places = list(run)
        given.append(_chapter(jobs[0], dict(zip(names, paragraphs, strict=True)), places))
    for path in references:
        given = add_reference(given, path)
    recipe = jobs[0].recipe
    languages = replace(
        rules,
        source_language=rules.source_language or recipe.source_language,
        target_language=rules.target_language or recipe.target_language,
    )
    return build_corpus(given, languages, name=jobs[0].name)


def _finished(store: JobStore, job: Job) -> list[JobParagraph]:
    rows = list(store.rows(job.id))
    if waiting := [row.planned.id for row in rows if row.state is ParagraphState.WAITING]:
        raise InputError(
            f"Job {job.id} is not finished: {len(waiting):,} of {len(rows):,} paragraphs wait. Resume it first.",
            field="job",
        )
    usable = [row for row in rows if row.planned.source.strip() and row.planned.mt.strip()]
    if not usable:
        raise InputError(f"Job {job.id} has no paragraph with a source and an MT.", field="job")
    return usable


def _check_same(first: Job, ours: Sequence[JobParagraph], job: Job, theirs: Sequence[JobParagraph]) -> None:
    texts = [[(row.planned.source, row.planned.mt) for row in rows] for rows in (ours, theirs)]
    if texts[0] != texts[1]:
        raise InputError(
            f"Jobs {first.id} and {job.id} are not of the same book: their source or their MT differs.", field="job"
        )


def _names(jobs: Sequence[Job]) -> list[str]:
    """Name each job by its model, or by its id where two jobs share a model."""
    models = [job.recipe.model for job in jobs]
    return [
        f"{model} ({job.id})" if models.count(model) > 1 or model == MT_SYSTEM else model
        for model, job in zip(models, jobs, strict=True)
    ]


def _chapter(job: Job, systems: dict[str, list[JobParagraph]], places: Sequence[int]) -> RawDocument:
    rows = next(iter(systems.values()))
    first = rows[places[0]].planned
    numbers = tuple(rows[at].planned.position + 1 for at in places)

    def lines(texts: Sequence[str]) -> TextLines:
        return TextLines(f"job {job.id}", tuple(texts), numbers, unit="Paragraph")

    outputs = {MT_SYSTEM: lines([rows[at].planned.mt for at in places])}
    outputs |= {name: lines([paragraphs[at].text for at in places]) for name, paragraphs in systems.items()}
    return RawDocument(
        f"{first.chapter + 1} {first.title}".strip(),
        f"Paragraph {numbers[0]} of job {job.id}",
        outputs,
        (),
        lines([rows[at].planned.source for at in places]),
        job.name,
    )
