"""Create a fine-tuning job once, resume it after an interruption, and follow it to its end."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from openai.types.fine_tuning import FineTuningJob, FineTuningJobEvent

from ape.errors import Conflict, UnknownJob
from finetune.hosted.job_record import HostedJobOrder, HostedJobRecord
from finetune.hosted.provider import HostedProvider

FINAL_STATUSES = ("succeeded", "failed", "cancelled")
FAILED_STATUSES = ("failed", "cancelled")
_STEP = re.compile(r"Step (\d+)(?:/(\d+))?")


@dataclass(frozen=True, slots=True)
class HostedJobEvent:
    """An event of the provider; `step` is None unless it is a measurement."""

    message: str
    status: str
    level: str = "info"
    step: int | None = None
    steps: int | None = None
    loss: float | None = None


HostedJobListener = Callable[[HostedJobEvent], None]


async def find_earlier_job(
    provider: HostedProvider, record: HostedJobRecord, order: HostedJobOrder
) -> FineTuningJob | None:
    """Find the job of an earlier run; None if there is none, so that one may be created.

    A failed job does not block another order. One that runs or succeeded was paid for, so another order is refused.
    """
    state = record.state
    if state.order is None or state.ticket is None:
        return None
    try:
        job = await (provider.job(state.job) if state.job else provider.find(state.ticket))
    except UnknownJob as error:
        raise UnknownJob(
            f"{error} It is recorded in {record.path.parent}. Start another job if it is gone.", field="again"
        ) from error
    if job is None:
        return None
    record.update(job=job.id)
    if state.order == order:
        return job
    if job.status in FAILED_STATUSES:
        return None
    raise Conflict(
        f"{record.path.parent} has the job {job.id} ({job.status}), which was started with "
        f"{_order_differences(state.order, order)}. Use another directory, or start another job in this one.",
        field="again",
    )


def _order_differences(then: HostedJobOrder, now: HostedJobOrder) -> str:
    before, after = then.model_dump(), now.model_dump()
    names = {"training": "training examples", "validation": "dev examples"}
    changed = [names.get(name, name).replace("_", " ") for name in before if before[name] != after[name]]
    return f"other {', '.join(changed)}"


async def start_job(
    provider: HostedProvider, record: HostedJobRecord, order: HostedJobOrder, *, paths: Mapping[str, Path]
) -> FineTuningJob:
    """Upload missing files, then create the job; each step is recorded before the next."""
    files: dict[str, str] = {}
    for sha256 in filter(None, (order.training, order.validation)):
        files[sha256] = await _upload_once(provider, record, sha256, paths[sha256])
    ticket = record.record_order(order)
    job = await provider.create(order, files=files, ticket=ticket)
    record.update(job=job.id)
    return job


async def _upload_once(provider: HostedProvider, record: HostedJobRecord, sha256: str, path: Path) -> str:
    known = record.state.files.get(sha256)
    if known and await provider.has_file(known):
        return known
    sent = await provider.upload(path)
    record.record_file(sha256, sent)
    return sent


async def follow_job(
    provider: HostedProvider, id: str, *, every_seconds: float, watch: HostedJobListener
) -> FineTuningJob:
    """Yield events until the job has ended."""
    seen: set[str] = set()
    while True:
        # Read the job before its events, so that its last events are included.
        job = await provider.job(id)
        for event in await provider.events(id, seen=seen):
            seen.add(event.id)
            watch(_job_event(event, job.status))
        if job.status in FINAL_STATUSES:
            return job
        watch(HostedJobEvent("", job.status))
        await asyncio.sleep(every_seconds)


def _job_event(event: FineTuningJobEvent, status: str) -> HostedJobEvent:
    data = event.data if isinstance(event.data, dict) else {}
    in_words = _STEP.match(str(event.message))
    step, steps = in_words.groups() if in_words else (None, None)
    loss = data.get("train_loss")
    return HostedJobEvent(
        message=str(event.message),
        status=status,
        level=str(event.level or "info"),
        step=_integer_or_none(data.get("step", step)) if in_words or event.type == "metrics" else None,
        steps=_integer_or_none(data.get("total_steps", steps)),
        loss=float(loss) if isinstance(loss, int | float) else None,
    )


def _integer_or_none(number: object) -> int | None:
    if isinstance(number, str) and number.isdigit():
        return int(number)
    return int(number) if isinstance(number, int | float) and math.isfinite(number) else None
