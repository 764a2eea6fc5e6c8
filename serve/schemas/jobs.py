"""Books and jobs as JSON: what is asked for with an upload, and what is told of a job."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, Json

from ape.jobs.counts import ChapterCounts, JobCounts
from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.job_paragraph import JobParagraph
from ape.jobs.output import JobOutput, ParagraphNote
from ape.jobs.pace import JobPace
from ape.passage.options import (
    DEFAULT_CONTEXT_SIZE,
    DEFAULT_MODEL_NAME,
    DEFAULT_OPTIONS,
    GLOSSARY_DESCRIPTION,
    MAX_TERMS,
    Candidates,
    ContextSize,
    Instructions,
    MaxAttempts,
    Seed,
    Temperature,
    TopP,
)
from ape.passage.request import Language, ModelName
from ape.text.characters import READABLE_PATTERN
from serve.schemas.passages import UsageOut

# So many quarantined paragraphs are named; of the others there is the count.
MAX_LISTED = 100
# Also checked here: what a guard would refuse in every paragraph, or the database in the job, is refused at once.
Text = Annotated[str, Field(pattern=READABLE_PATTERN)]
Glossary = Annotated[dict[Text, Text], MAX_TERMS]


class BookRequest(BaseModel):
    """The fields that may come with the files of a book. What is left out or empty is as its default."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    source_language: Language | None = None
    target_language: Language | None = None
    name: Text = Field("", max_length=200, description="what to call the job; the name of the file if absent")
    model: ModelName = DEFAULT_MODEL_NAME
    context: ContextSize = DEFAULT_CONTEXT_SIZE
    instructions: Annotated[Instructions, Field(pattern=READABLE_PATTERN)] = ""
    glossary: Json[Glossary] = Field(
        default_factory=dict, description=f"{GLOSSARY_DESCRIPTION.text} A JSON object."
    )
    # An integer, as in the stored recipes of earlier jobs: 0.0 would change the fingerprint of every result.
    temperature: Temperature = 0
    top_p: TopP = DEFAULT_OPTIONS.top_p
    seed: Seed = DEFAULT_OPTIONS.seed
    max_attempts: MaxAttempts = DEFAULT_OPTIONS.max_attempts
    n: Candidates = DEFAULT_OPTIONS.candidates
    encoding: str | None = Field(
        None,
        max_length=40,
        pattern="^[A-Za-z0-9_.:-]+$",
        description="of text files, where it can't be told from them",
    )
    format: str | None = Field(None, max_length=40, description="of the MT, where its name does not tell")

    def to_recipe(self) -> JobRecipe:
        """The wishes; the model and the languages are filled in when they are known."""
        return JobRecipe(
            model=self.model,
            source_language=self.source_language or "",
            target_language=self.target_language or "",
            temperature=self.temperature,
            top_p=self.top_p,
            seed=self.seed,
            max_attempts=self.max_attempts,
            candidates=self.n,
            context=self.context,
            glossary=tuple(self.glossary.items()),
            instructions=self.instructions,
        )


class RedoRequest(BaseModel):
    """What is to be done again."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, json_schema_extra={"examples": [{"quarantined": True}]}
    )

    paragraphs: list[Annotated[Text, Field(min_length=1, max_length=1000)]] = Field(
        [], max_length=10_000, description="by their ids"
    )
    rejected: bool = Field(False, description="all of which the MT was kept")
    quarantined: bool = Field(False, description="all that were given up")


class CountsOut(BaseModel):
    """Paragraphs by what became of them, and the words of those that are to be edited."""

    paragraphs: int
    waiting: int
    edited: int
    unchanged: int
    rejected: int
    quarantined: int
    skipped: int
    words: int
    words_done: int
    words_waiting: int

    @classmethod
    def of(cls, counts: JobCounts) -> CountsOut:
        """As they are now."""
        return cls(
            paragraphs=counts.total,
            **{name: getattr(counts, name) for name in cls.model_fields if name != "paragraphs"},
        )


class ChapterOut(BaseModel):
    """A chapter, in the order of the book, from 0."""

    chapter: int
    title: str
    counts: CountsOut

    @classmethod
    def of(cls, chapter: ChapterCounts) -> ChapterOut:
        """As it is now."""
        return cls(chapter=chapter.chapter, title=chapter.title, counts=CountsOut.of(chapter.counts))


class QuarantinedOut(BaseModel):
    """A paragraph that was given up, and why. The MT stands in its place."""

    id: str
    reason: str

    @classmethod
    def of(cls, row: JobParagraph) -> QuarantinedOut:
        """As it is now."""
        return cls(id=row.planned.id, reason=row.reason)


class NotedOut(BaseModel):
    """A paragraph that somebody has to see to, and why; of the source, how it begins."""

    id: str
    message: str


class JobProgress(BaseModel):
    """How far a job is."""

    state: JobState
    note: str = Field(description="why it failed, or what it waits for")
    share: float = Field(ge=0, le=1, description="of the words to be edited, how many are dealt with")
    counts: CountsOut
    paragraphs_per_minute: float | None = Field(None, description="of late; null while it is not worked on")
    seconds_left: float | None = Field(None, description="our guess; null while there is no ground for one")

    @classmethod
    def of(cls, job: Job, counts: JobCounts, pace: JobPace | None) -> JobProgress:
        """As it is now."""
        return cls(**_progress(job, counts, pace))


class JobOut(JobProgress):
    """A job: one book, and how far it is."""

    id: str
    name: str
    format: str = Field(description="of the book")
    model: str
    revision: str = Field(description="of the model's weights, where they are known")
    prompt: str
    source_language: str
    target_language: str
    created: datetime
    updated: datetime
    usage: UsageOut

    @classmethod
    def of(cls, job: Job, counts: JobCounts, pace: JobPace | None) -> JobOut:
        """As it is now."""
        return cls(**_job(job, counts, pace))


class JobDetails(JobOut):
    """A job with its chapters, and what a person has to see to, the first hundred of each kind."""

    chapters: list[ChapterOut]
    quarantined: list[QuarantinedOut]
    source_without_mt: list[NotedOut] = Field(description="paragraphs of the source that are not in the MT")
    source_without_mt_count: int
    left_over: list[NotedOut] = Field(description="paragraphs with source text in them, once it is done")
    left_over_count: int
    left_out: list[NotedOut] = Field(description="paragraphs whose new text the file can't hold")


class JobsResponse(BaseModel):
    """Jobs, the newest first. `next` is what to ask for `after` where there are more."""

    jobs: list[JobOut]
    next: str | None = None


def job_details(
    job: Job,
    counts: JobCounts,
    pace: JobPace | None,
    *,
    chapters: list[ChapterCounts],
    quarantined: list[JobParagraph],
) -> JobDetails:
    """All that is told of a job."""
    missing = job.unpaired_source
    made = JobOutput.from_json(job.outcome) if job.outcome else None
    return JobDetails(
        **_job(job, counts, pace),
        source_without_mt=[NotedOut(id=name, message=beginning) for name, beginning in missing.first],
        source_without_mt_count=missing.count,
        left_over=_noted(made.left_over) if made else [],
        left_over_count=made.left_over_count if made else 0,
        left_out=_noted(made.left_out) if made else [],
        chapters=[ChapterOut.of(one) for one in chapters],
        quarantined=[QuarantinedOut.of(row) for row in quarantined],
    )


def _noted(notes: Sequence[ParagraphNote]) -> list[NotedOut]:
    return [NotedOut(id=one.id, message=one.message) for one in notes]


def _progress(job: Job, counts: JobCounts, pace: JobPace | None) -> dict[str, object]:
    per_minute = pace.paragraphs_per_minute if pace else None
    left = pace.seconds_left(counts.words_waiting) if pace else None
    return {
        "state": job.state,
        "note": job.note,
        "share": 1 - counts.words_waiting / counts.words if counts.words else 1.0,
        "counts": CountsOut.of(counts),
        "paragraphs_per_minute": None if per_minute is None else round(per_minute, 1),
        "seconds_left": None if left is None else round(left, 1),
    }


def _job(job: Job, counts: JobCounts, pace: JobPace | None) -> dict[str, object]:
    recipe = job.recipe
    return _progress(job, counts, pace) | {
        "id": job.id,
        "name": job.name,
        "format": job.format,
        "model": recipe.model,
        "revision": recipe.revision,
        "prompt": recipe.prompt,
        "source_language": recipe.source_language,
        "target_language": recipe.target_language,
        "created": job.created,
        "updated": job.updated,
        "usage": UsageOut(prompt_tokens=counts.prompt_tokens, completion_tokens=counts.completion_tokens),
    }
