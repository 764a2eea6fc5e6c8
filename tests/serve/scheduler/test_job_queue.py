"""The line of jobs: by turns between owners, and a rest that grows as long as nothing works."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ape.jobs.job import Job, JobRecipe, JobState
from serve.scheduler.job_queue import BACKOFF_SECONDS, MAX_BACKOFF_SECONDS, JobQueue


def job(id: str, owner: str, *, minute: int = 0) -> Job:
    values: dict[str, Any] = {
        "id": id,
        "owner": owner,
        "state": JobState.RUNNING,
        "created": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute),
    }
    return Job(
        **{
            **dict.fromkeys(Job.__dataclass_fields__, ""),
            "recipe": JobRecipe("m", "", "", "fr", "en"),
            **values,
        }
    )


ANNA = [job("a1", "anna"), job("a2", "anna", minute=1)]
BRUNO = [job("b1", "bruno", minute=2)]


def test_the_oldest_is_first_among_equals() -> None:
    assert JobQueue().first([*BRUNO, *ANNA], []).id == "a1"


def test_an_owner_with_a_job_at_work_lets_others_go_first() -> None:
    assert JobQueue().first([ANNA[1], *BRUNO], [ANNA[0]]).id == "b1"


def test_turns_go_round_between_owners_and_their_jobs() -> None:
    line, every = JobQueue(), [*ANNA, *BRUNO]
    order = []
    for _ in range(4):
        chosen = line.first(every, [])
        line.took_turn(chosen)
        order.append(chosen.id)
    assert order == ["a1", "b1", "a2", "b1"]


def test_a_rest_is_twice_as_long_each_time_up_to_a_limit_and_short_again_after_it_worked() -> None:
    line = JobQueue()
    assert [line.rest("a1") for _ in range(3)] == [BACKOFF_SECONDS, 2 * BACKOFF_SECONDS, 4 * BACKOFF_SECONDS]
    assert max(line.rest("a1") for _ in range(10)) == MAX_BACKOFF_SECONDS
    assert line.rests("a1")
    assert line.seconds_left() == [pytest.approx(MAX_BACKOFF_SECONDS, abs=5)]
    line.wake("a1")
    assert not line.rests("a1")
    assert line.rest("a1") == BACKOFF_SECONDS


def test_who_is_not_in_it_any_more_is_forgotten() -> None:
    line = JobQueue()
    line.rest("a1")
    line.forget_all_but({"b1"})
    assert not line.rests("a1")
