"""Jobs take turns between owners, and back-off grows until a job works again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ape.jobs.job import Job, JobRecipe, JobState
from serve.scheduler.job_queue import BACKOFF_SECONDS, MAX_BACKOFF_SECONDS, JobQueue, choose_preempted


def job(id: str, owner: str, *, minute: int = 0) -> Job:
    values: dict[str, Any] = {
        "id": id,
        "owner": owner,
        "state": JobState.RUNNING,
        "created": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute),
    }
    return Job(
        **{**dict.fromkeys(Job.__dataclass_fields__, ""), "recipe": JobRecipe("m", "", "", "fr", "en"), **values}
    )


ANNA = [job("a1", "anna"), job("a2", "anna", minute=1)]
BRUNO = [job("b1", "bruno", minute=2)]


def test_the_oldest_is_first_among_equals() -> None:
    assert JobQueue().next_job([*BRUNO, *ANNA], []).id == "a1"


def test_an_owner_with_a_job_at_work_lets_others_go_first() -> None:
    assert JobQueue().next_job([ANNA[1], *BRUNO], [ANNA[0]]).id == "b1"


def test_turns_go_round_between_owners_and_their_jobs() -> None:
    queue, every = JobQueue(), [*ANNA, *BRUNO]
    order = []
    for _ in range(4):
        chosen = queue.next_job(every, [])
        queue.record_turn(chosen)
        order.append(chosen.id)
    assert order == ["a1", "b1", "a2", "b1"]


def test_back_off_is_twice_as_long_each_time_up_to_a_limit_and_short_again_after_it_worked() -> None:
    queue = JobQueue()
    assert [queue.back_off("a1") for _ in range(3)] == [BACKOFF_SECONDS, 2 * BACKOFF_SECONDS, 4 * BACKOFF_SECONDS]
    assert max(queue.back_off("a1") for _ in range(10)) == MAX_BACKOFF_SECONDS
    assert queue.is_backing_off("a1")
    assert queue.seconds_left() == [pytest.approx(MAX_BACKOFF_SECONDS, abs=5)]
    queue.clear_backoff("a1")
    assert not queue.is_backing_off("a1")
    assert queue.back_off("a1") == BACKOFF_SECONDS


def test_who_is_not_in_it_any_more_is_forgotten() -> None:
    queue = JobQueue()
    queue.back_off("a1")
    queue.keep_only({"b1"})
    assert not queue.is_backing_off("a1")


@dataclass
class Turn:
    job: Job
    began: float
    is_preempted: bool = False


def preempted(running: list[Turn], waiting: list[Job], *, now: float = 100.0) -> list[str]:
    return [turn.job.id for turn in choose_preempted(running, waiting, now=now, turn_seconds=120.0)]


def test_an_owner_with_several_jobs_gives_way_at_once_to_one_with_none() -> None:
    running = [Turn(ANNA[1], 20.0), Turn(ANNA[0], 10.0)]
    assert preempted(running, BRUNO) == ["a1"]
    running[1].is_preempted = True  # it finishes its paragraphs, and no other one gives way meanwhile
    assert preempted(running, BRUNO) == []


def test_a_single_job_keeps_its_turn_until_it_is_over() -> None:
    assert preempted([Turn(ANNA[0], 10.0)], BRUNO) == []
    assert preempted([Turn(ANNA[0], 10.0)], BRUNO, now=130.0) == ["a1"]


def test_an_owner_does_not_preempt_himself_before_the_turn_is_over() -> None:
    assert preempted([Turn(ANNA[0], 10.0), Turn(BRUNO[0], 10.0)], ANNA[1:]) == []


def test_no_more_jobs_give_way_than_wait() -> None:
    assert preempted([Turn(ANNA[0], 10.0), Turn(BRUNO[0], 5.0)], ANNA[1:], now=200.0) == ["b1"]
