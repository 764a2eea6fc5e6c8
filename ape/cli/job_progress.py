"""A progress bar for a book job."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ape.cli.terminal import error_console, passages_progress

if TYPE_CHECKING:
    from ape.jobs.job import Job
    from ape.jobs.store import JobStore
    from ape.jobs.worker import JobListener, JobStep


@contextmanager
def job_progress(store: JobStore, job: Job) -> Iterator[JobListener]:
    """Show a bar with counts by decision, and print each failure; yields the listener for the worker."""
    counts = store.counts(job.id)
    decisions: Counter[str] = Counter(
        {name: getattr(counts, name) for name in ("edited", "unchanged", "rejected", "quarantined")}
    )
    began, done = time.monotonic(), 0
    with passages_progress(error_console()) as bar:
        task = bar.add_task(job.name, total=counts.total, completed=counts.total - counts.waiting, so_far="")

        def listen(step: JobStep) -> None:
            nonlocal done
            done += 1
            result = step.paragraph.result
            decisions[result.decision if result else "quarantined"] += 1
            rate = 60 * done / max(1e-3, time.monotonic() - began)
            so_far = ", ".join(f"{count} {name}" for name, count in decisions.items() if count)
            bar.update(task, advance=1, so_far=f"· {rate:.0f} a minute · {so_far}")
            if step.failure:
                message = f"Quarantined: {step.paragraph.planned.id}: {step.failure}"
                bar.console.print(message, markup=False, soft_wrap=True)

        yield listen
