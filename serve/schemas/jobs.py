"""Request and response schemas of books and jobs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Json

from ape.errors import InputError
from ape.jobs.counts import ChapterCounts, JobCounts
from ape.jobs.estimate import BookEstimate
from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.job_paragraph import JobParagraph
from ape.jobs.output import JobOutput, ParagraphNote
from ape.jobs.pace import JobPace
from ape.ledger.files.glossary import parse_glossary
from ape.passage.options import (
    DEFAULT_CONTEXT_SIZE,
    DEFAULT_MODEL_NAME,
    GLOSSARY_DESCRIPTION,
    MAX_GLOSSARY_CHARACTERS,
    MAX_TERMS,
    ContextSize,
    Instructions,
    Temperature,
    option_values,
)
from ape.passage.request import Language, ModelName, with_shared_options
from ape.text.characters import READABLE_PATTERN
from serve.schemas.passages import UsageOut

# How many quarantined paragraphs are listed; the rest are only counted.
MAX_LISTED = 100
# Rejects text that a guard would refuse in every paragraph, or that the database can't store.
Text = Annotated[str, Field(pattern=READABLE_PATTERN)]
Glossary = Annotated[dict[Text, Text], MAX_TERMS]


# A longer one would be refused for its entries, after seconds of reading it.
_MAX_GLOSSARY_TEXT = 4 * MAX_GLOSSARY_CHARACTERS
# A table has one of these on its lines; anything else is left to the JSON parser.
_SEPARATORS = frozenset(",;\t>")


def _glossary_json(value: object) -> object:
    """A glossary as a JSON object: a table or another file of names is converted; JSON is checked by its schema."""
    if isinstance(value, str) and len(value) > _MAX_GLOSSARY_TEXT:
        raise ValueError(f"has {len(value):,} characters; at most {_MAX_GLOSSARY_TEXT:,} are allowed")
    if not isinstance(value, str) or value.lstrip()[:1] in ("", "{", "[", '"') or not _SEPARATORS & {*value}:
        return value
    try:
        return json.dumps(parse_glossary(value))
    except InputError as error:
        raise ValueError(str(error)) from error


@with_shared_options
class BookRequest(BaseModel):
    """Form fields of a book upload. Absent or empty fields take their defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    source_language: Language | None = None
    target_language: Language | None = None
    name: Text = Field("", max_length=200, description="name of the job; defaults to the file name")
    model: ModelName = DEFAULT_MODEL_NAME
    context: ContextSize = DEFAULT_CONTEXT_SIZE
    instructions: Annotated[Instructions, Field(pattern=READABLE_PATTERN)] = ""
    glossary: Annotated[Json[Glossary], BeforeValidator(_glossary_json)] = Field(
        default_factory=dict, description=f"{GLOSSARY_DESCRIPTION.text} A JSON object, or a table as CSV or TSV."
    )
    # An integer, as in the stored recipes of earlier jobs: 0.0 would change the fingerprint of every result.
    temperature: Temperature = 0
    encoding: str | None = Field(
        None, max_length=40, pattern="^[A-Za-z0-9_.:-]+$", description="encoding of text files, if it can't be detected"
    )
    start: bool = Field(
        True, description="begin at once; false leaves the job paused, so that its plan and its names can be checked"
    )
    names: Literal["auto", "none"] = Field(
        "auto", description="names to repair before the model edits: found in the book, none, or a file part `names`"
    )
    format: str | None = Field(None, max_length=40, description="format of the MT, if its file name does not show it")

    def to_recipe(self) -> JobRecipe:
        """Convert to a recipe; planning fills in the model and missing languages."""
        return JobRecipe(
            model=self.model,
            source_language=self.source_language or "",
            target_language=self.target_language or "",
            context=self.context,
            glossary=tuple(self.glossary.items()),
            instructions=self.instructions,
            **option_values(self),
        )


class RedoRequest(BaseModel):
    """Selects the paragraphs to edit again."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, json_schema_extra={"examples": [{"quarantined": True}]}
    )

    paragraphs: list[Annotated[Text, Field(min_length=1, max_length=1000)]] = Field(
        [], max_length=10_000, description="paragraph ids"
    )
    rejected: bool = Field(False, description="all rejected paragraphs")
    quarantined: bool = Field(False, description="all quarantined paragraphs")


class CountsOut(BaseModel):
    """Paragraphs by outcome, and words of the paragraphs to edit."""

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
        """Convert the counts of a job or chapter."""
        return cls(
            paragraphs=counts.total,
            **{name: getattr(counts, name) for name in cls.model_fields if name != "paragraphs"},
        )


class ChapterOut(BaseModel):
    """Counts of one chapter; chapters are numbered from 0 in book order."""

    chapter: int
    title: str
    counts: CountsOut

    @classmethod
    def of(cls, chapter: ChapterCounts) -> ChapterOut:
        """Convert the counts of a chapter."""
        return cls(chapter=chapter.chapter, title=chapter.title, counts=CountsOut.of(chapter.counts))


class QuarantinedOut(BaseModel):
    """A quarantined paragraph and the reason. The output has its MT."""

    id: str
    reason: str

    @classmethod
    def of(cls, row: JobParagraph) -> QuarantinedOut:
        """Convert a row of the store."""
        return cls(id=row.planned.id, reason=row.reason)


class NotedOut(BaseModel):
    """A paragraph to check by hand, with the reason or the beginning of its source."""

    id: str
    message: str


class JobProgress(BaseModel):
    """Progress of a job."""

    state: JobState
    note: str = Field(description="why the job failed, or what it waits for")
    share: float = Field(ge=0, le=1, description="share of the words to edit that are done")
    counts: CountsOut
    paragraphs_per_minute: float | None = Field(None, description="recent pace; null while the job is not running")
    seconds_left: float | None = Field(None, description="estimate; null while there is no pace")

    @classmethod
    def of(cls, job: Job, counts: JobCounts, pace: JobPace | None) -> JobProgress:
        """Build from a job, its counts and its pace."""
        return cls(**_progress(job, counts, pace))


class JobOut(JobProgress):
    """A job (one book) and its progress."""

    id: str
    name: str
    format: str = Field(description="format of the book")
    model: str
    revision: str = Field(description="revision of the model weights, if known")
    prompt: str
    source_language: str
    target_language: str
    created: datetime
    updated: datetime
    usage: UsageOut

    @classmethod
    def of(cls, job: Job, counts: JobCounts, pace: JobPace | None) -> JobOut:
        """Build from a job, its counts and its pace."""
        return cls(**_job(job, counts, pace))


class JobDetails(JobOut):
    """A job with its chapters and the paragraphs to check by hand, at most 100 of each kind."""

    chapters: list[ChapterOut]
    quarantined: list[QuarantinedOut]
    source_without_mt: list[NotedOut] = Field(description="source paragraphs without a counterpart in the MT")
    source_without_mt_count: int
    left_over: list[NotedOut] = Field(description="output paragraphs that still contain source text")
    left_over_count: int
    left_out: list[NotedOut] = Field(description="paragraphs whose post-edit the file format can't represent")


class PlanRange(BaseModel):
    """The ends of an estimate."""

    low: float
    high: float


class PlanExample(BaseModel):
    """The beginning of a paragraph."""

    id: str
    text: str


class PlanSkip(BaseModel):
    """Why paragraphs are left as they are, how many, and the first of them."""

    reason: str
    count: int
    examples: list[PlanExample]


class JobPlan(BaseModel):
    """What a job will do: pairs to edit, paragraphs that are left alone and why, time and cost."""

    paragraphs: int
    pairs: int
    words: int
    skipped: list[PlanSkip]
    source_without_mt: int = Field(description="source paragraphs without a counterpart in the MT")
    tokens_in: PlanRange
    tokens_out: PlanRange
    seconds: PlanRange
    cost: PlanRange | None = Field(description="null if the price of the model server is not known")
    speed_origin: str = Field(description="where the estimate of the time comes from")

    @classmethod
    def of(cls, estimate: BookEstimate, job: Job) -> JobPlan:
        """Convert the estimate of a job."""
        values = estimate.to_json()
        given = {name: values[name] for name in cls.model_fields if name in values}
        return cls(**given, source_without_mt=job.unpaired_source.count, speed_origin=estimate.speed.origin)


class JobsResponse(BaseModel):
    """A page of jobs, newest first. `next` is the `after` of the next page."""

    jobs: list[JobOut]
    next: str | None = None


def job_details(
    job: Job, counts: JobCounts, pace: JobPace | None, *, chapters: list[ChapterCounts], quarantined: list[JobParagraph]
) -> JobDetails:
    """Build the details of a job."""
    missing = job.unpaired_source
    output = JobOutput.from_json(job.outcome) if job.outcome else None
    return JobDetails(
        **_job(job, counts, pace),
        source_without_mt=[NotedOut(id=name, message=beginning) for name, beginning in missing.first],
        source_without_mt_count=missing.count,
        left_over=_notes(output.left_over) if output else [],
        left_over_count=output.left_over_count if output else 0,
        left_out=_notes(output.left_out) if output else [],
        chapters=[ChapterOut.of(chapter) for chapter in chapters],
        quarantined=[QuarantinedOut.of(row) for row in quarantined],
    )


def _notes(notes: Sequence[ParagraphNote]) -> list[NotedOut]:
    return [NotedOut(id=note.id, message=note.message) for note in notes]


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
