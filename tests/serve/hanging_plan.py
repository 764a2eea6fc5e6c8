"""Planning that hangs, for the process that reads uploaded books."""

from __future__ import annotations

import signal

from ape.jobs.planning import StartedJob
from ape.jobs.store import JobStore
from serve.scheduler.book_planner import BookPlan, _plan

HANGING = "hangs.txt"
really_plan = _plan


def hang_on_one(store_url: str, plan: BookPlan) -> StartedJob:
    """Hang on the book of that name; plan all others."""
    if plan.name == HANGING:
        signal.pause()
    return really_plan(store_url, plan)


def plan_and_hang(store_url: str, plan: BookPlan) -> None:
    """Plan the book, but never answer."""
    with JobStore(store_url) as store:
        plan.start(store)
    signal.pause()
