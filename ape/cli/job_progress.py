"""A progress bar for a book job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from ape.cli.terminal import error_console
from ape.jobs.pace import JobPace
from ape.jobs.result_rows import count_words

if TYPE_CHECKING:
    from ape.jobs.job import Job
    from ape.jobs.store import JobStore
    from ape.jobs.worker import JobListener, JobStep

_NAME_WIDTH = 18
# Below this width there is room for the count, the rate and the time left alone.
_WIDE = 120


@contextmanager
def job_progress(store: JobStore, job: Job, console: Console | None = None) -> Iterator[JobListener]:
    """Show a bar with count, rate and time left, and print each failure; yields the listener for the worker."""
    counts = store.counts(job.id)
    decisions: Counter[str] = Counter(
        {name: getattr(counts, name) for name in ("edited", "unchanged", "rejected", "quarantined")}
    )
    pace, words_left = JobPace(), counts.words_waiting
    with _book_progress(console or error_console()) as bar:
        task = bar.add_task(_short(job.name), total=counts.total, completed=counts.total - counts.waiting, so_far="")

        def listen(step: JobStep) -> None:
            nonlocal words_left
            pace.record(step.paragraph)
            words_left = max(0, words_left - count_words(step.paragraph.planned.mt))
            result = step.paragraph.result
            decisions[result.decision if result else "quarantined"] += 1
            so_far = f"{_rate(pace.paragraphs_per_minute)} · {_time(pace.seconds_left(words_left))} left"
            if bar.console.width >= _WIDE:
                so_far += "".join(f" · {count} {name}" for name, count in decisions.items() if count)
            bar.update(task, advance=1, so_far=so_far)
            if step.failure:
                message = f"Quarantined: {step.paragraph.planned.id}: {step.failure}"
                bar.console.print(message, markup=False, soft_wrap=True)

        yield listen


def _book_progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=10),
        MofNCompleteColumn(),
        TextColumn("{task.fields[so_far]}", markup=False),
        console=console,
        disable=not console.is_terminal,
    )


def _short(name: str) -> str:
    return name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 1] + "…"


def _rate(per_minute: float | None) -> str:
    return f"{per_minute:.0f} a minute" if per_minute is not None else ""


def _time(seconds: float | None) -> str:
    """The time as hours and minutes; by words, so that long and short paragraphs do not make it jump."""
    if seconds is None:
        return "?"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
