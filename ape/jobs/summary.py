"""The result of a finished book in numbers, without printing."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass

from ape.jobs.counts import JobCounts
from ape.jobs.job import Job, JobState
from ape.jobs.job_paragraph import ParagraphState
from ape.jobs.output import JobOutput
from ape.jobs.store import JobStore


@dataclass(frozen=True, slots=True)
class BookSummary:
    """A finished book: the counts add up to its paragraphs.

    `skipped` counts paragraphs by reason; `quarantined` maps paragraph ids to the last failure.
    """

    job: Job
    output: JobOutput
    counts: JobCounts
    skipped: dict[str, int]
    quarantined: dict[str, str]
    seconds: float

    @property
    def needs_attention(self) -> bool:
        """Whether a person should look at something: quarantine, text that could not be written, source left over."""
        output, missing = self.output, self.job.unpaired_source.count
        return bool(self.counts.quarantined or output.left_over_count or output.left_out or missing)

    def to_json(self) -> str:
        """The summary as a JSON object."""
        counts = self.counts
        return json.dumps(
            {
                "job": self.job.id,
                "output": str(self.output.path),
                "paragraphs_in": counts.total,
                "paragraphs_out": self.output.paragraphs,
                "edited": counts.edited,
                "unchanged": counts.unchanged,
                "rejected": counts.rejected,
                "skipped": self.skipped,
                "quarantined": self.quarantined,
                "left_over": [asdict(note) for note in self.output.left_over],
                "left_over_count": self.output.left_over_count,
                "left_out": [asdict(note) for note in self.output.left_out],
                "source_without_mt": asdict(self.job.unpaired_source),
                "usage": counts.token_counts(),
                "seconds": round(self.seconds, 3),
                "needs_you": self.needs_attention,
            },
            ensure_ascii=False,
            indent=2,
        )


def summarise_job(store: JobStore, job: Job, *, seconds: float) -> BookSummary:
    """Collect the summary of a finished job; `seconds` is how long the caller took."""
    counts = store.counts(job.id)
    skipped: Counter[str] = Counter()
    if counts.skipped:
        # Without the numbers in brackets, so that equal reasons are counted together.
        rows = store.rows(job.id, state=ParagraphState.SKIPPED)
        skipped.update(row.reason.partition(" (")[0] for row in rows)
    quarantined = quarantine_reasons(store, job.id) if counts.quarantined else {}
    return BookSummary(job, JobOutput.from_json(job.outcome), counts, dict(skipped), quarantined, seconds)


def quarantine_reasons(store: JobStore, id: str) -> dict[str, str]:
    """Map the ids of the job's quarantined paragraphs to their last failure."""
    return {row.planned.id: row.reason for row in store.rows(id, state=ParagraphState.QUARANTINED)}


def describe_state(store: JobStore, job: Job) -> str:
    """The state for people: a running job without a worker is "stopped"."""
    return "stopped" if job.state is JobState.RUNNING and not store.active_workers(job.id) else job.state
