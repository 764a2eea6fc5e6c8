"""Words for the numbers and states of a book: durations, costs, sizes, downloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ape.jobs.job import JobState
from serve.schemas.jobs import JobPlan, PlanRange

_STATES: Mapping[JobState, str] = {
    JobState.RUNNING: "working",
    JobState.PAUSED: "paused",
    JobState.CANCELLED: "cancelled",
    JobState.DONE: "done",
    JobState.FAILED: "stopped by a problem",
}
# Formats of GET /v1/jobs/{id}/result, in the order of the page.
DOWNLOADS: tuple[tuple[str, str], ...] = (
    ("book", "The book, with every edit of the model"),
    ("report", "A report: source, translation and post-edit side by side"),
    ("xliff", "XLIFF, for translation tools"),
    ("tmx", "TMX, a translation memory"),
    ("jsonl", "JSON lines, for scripts"),
)
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def duration_words(seconds: float) -> str:
    """A duration in its largest unit: "less than a minute", "12 minutes", "3 hours"."""
    for unit, length in _UNITS:
        if seconds >= length:
            count = round(seconds / length)
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "less than a minute"


def range_words(span: PlanRange) -> str:
    """A range of durations: "10 to 40 minutes", "up to 4 minutes"."""
    low, high = duration_words(span.low), duration_words(span.high)
    if low == high:
        return low
    if not low[0].isdigit():
        return f"up to {high}"
    number, _, unit = low.partition(" ")
    same = high.partition(" ")[2].rstrip("s") == unit.rstrip("s")
    return f"{number} to {high}" if same else f"{low} to {high}"


def cost_words(plan: JobPlan) -> str:
    """The cost of a plan, in the currency of the settings."""
    if plan.cost is None:
        return "not known: the price of the model server is not configured"
    if plan.cost.high <= 0:
        return "nothing: the model runs here"
    return f"{plan.cost.low:,.2f} to {plan.cost.high:,.2f}, by the price in the settings"


def state_words(state: JobState) -> str:
    """A state in plain words."""
    return _STATES[state]


BOOK_FILTERS: Mapping[str, Any] = {
    "duration": duration_words,
    "duration_range": range_words,
    "cost_of": cost_words,
    "state_of": state_words,
}
