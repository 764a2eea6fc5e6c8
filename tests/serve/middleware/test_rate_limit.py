"""A client over the limit gets a wait time, passes after it, and does not affect other clients."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import limits.storage.memory
import pytest
from fastapi import FastAPI, Request
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.errors import Busy, InputError, TooLong
from ape.settings import Settings
from serve.middleware.problems import install_problem_handlers
from serve.middleware.rate_limit import RateLimit, TooMany, caller_identity
from tests.scripted import running

Until = Callable[..., Awaitable[None]]


@dataclass
class Clock:
    """The clock of the library, which reads it from a module."""

    now: float = 1_800_000_000.0

    def time(self) -> float:
        return self.now


@contextmanager
def at(now: float = 1_800_000_000.0) -> Iterator[Clock]:
    clock = Clock(now)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits.storage.memory, "time", clock)
        yield clock


@pytest.fixture
def clock() -> Iterator[Clock]:
    with at() as clock:
        yield clock


def passes(limit: RateLimit, count: int = 1, *, who: str = "anna") -> bool:
    try:
        limit.take(who, count)
    except TooMany:
        return False
    return True


def wait(limit: RateLimit, count: int = 1, *, who: str = "anna") -> float:
    with pytest.raises(TooMany) as caught:
        limit.take(who, count)
    return caught.value.retry_after


def test_so_many_pass_and_no_more(clock: Clock) -> None:
    limit = RateLimit("10/minute")
    assert [passes(limit) for _ in range(12)] == [True] * 10 + [False] * 2


def test_a_list_passes_whole_or_not_at_all(clock: Clock) -> None:
    limit = RateLimit("10/minute")
    assert passes(limit, 8)
    assert not passes(limit, 3)
    assert passes(limit, 2)


def test_callers_are_counted_apart(clock: Clock) -> None:
    limit = RateLimit("10/minute")
    assert passes(limit, 10, who="anna")
    assert passes(limit, 10, who="boris")
    assert not passes(limit, who="anna")


def test_room_comes_back_bit_by_bit(clock: Clock) -> None:
    limit = RateLimit("60/minute")
    clock.now += 59  # the end of a window: the clock began with one
    assert passes(limit, 60)
    clock.now += 1 + 30  # half of the next one has gone, and with it half of the sixty
    assert passes(limit, 30)
    assert not passes(limit, 1)


def test_without_a_limit_everything_passes() -> None:
    limit = RateLimit(None)
    limit.take("anna", 1_000_000)
    assert limit.storage.storage == {}


def test_the_refusal_is_a_429_that_says_when_to_come_again(clock: Clock) -> None:
    limit = RateLimit("600/minute")
    limit.take("anna", 600)
    with pytest.raises(Busy) as caught:
        limit.take("anna", 1)
    assert (caught.value.status, caught.value.title) == (429, "Too many passages")
    # By hand: in the next window the 600 weigh below 600 at once, so what is left is this one's 60 seconds.
    assert caught.value.retry_after == pytest.approx(60, abs=0.01)
    assert str(caught.value) == "The limit is 600 passages per minute, and 1 more would pass in 60 seconds."


def test_more_than_the_whole_limit_is_told_so(clock: Clock) -> None:
    limit = RateLimit("1000/day; 50/5 minutes")
    with pytest.raises(TooLong) as caught:
        limit.take("anna", 64)
    assert (caught.value.actual, caught.value.limit) == (64, 50)
    assert "64 passages" in str(caught.value)
    assert "50 passages per 5 minutes" in str(caught.value)
    assert passes(limit, 50)  # nothing was counted


def test_of_several_limits_all_hold_and_none_is_charged_for_a_refusal(clock: Clock) -> None:
    limit = RateLimit("5/second; 8/minute")
    assert passes(limit, 5)
    assert not passes(limit, 1)
    clock.now += 2
    assert passes(limit, 3)
    assert wait(limit) > 50  # seconds, of the minute: the longer wait is returned
    clock.now += 120
    assert passes(limit, 5)


@pytest.mark.parametrize(
    "text", ["", "600", "fast", "0/minute", "600/fortnight", "-5/minute", "5/second;", "10/minute; 0/day", "6O0/minute"]
)
def test_a_bad_limit_is_a_sentence_that_names_the_setting(text: str) -> None:
    with pytest.raises(InputError, match=r"^rate_limit: .* is not a rate limit\. Write .* 600/minute") as caught:
        RateLimit(text)
    assert caught.value.field == "rate_limit"


@pytest.mark.parametrize("text", ["600/minute", "600 per minute", "5/5 seconds", "20/second; 5000/day", "1 / HOUR"])
def test_a_good_limit_is_read(text: str) -> None:
    assert RateLimit(text).limits


LIMITS = st.sampled_from([(1, 1), (3, 7), (10, 60), (600, 60), (1000, 86400)])
# For each request: the pause before it in windows, and its share of the limit.
REQUESTS = st.lists(st.tuples(st.floats(0, 2.5), st.floats(0, 1)), min_size=1, max_size=40)


@settings(deadline=None)
@given(LIMITS, st.floats(0, 1), REQUESTS)
def test_who_waits_as_told_passes_and_a_moment_before_does_not(
    numbers: tuple[int, int], offset: float, requests: list[tuple[float, float]]
) -> None:
    amount, seconds = numbers
    with at(1_800_000_000 + offset * seconds) as clock:
        limit = RateLimit(f"{amount}/{seconds} seconds")
        for pause, share in requests:
            clock.now += pause * seconds / 5
            count = 1 + int(share * (amount - 1))
            if passes(limit, count):
                continue
            seconds_to_wait = wait(limit, count)
            assert 0 < seconds_to_wait <= 2 * seconds + 0.01
            if seconds_to_wait > 0.02:
                clock.now += seconds_to_wait - 0.01
                assert not passes(limit, count)
                clock.now += 0.01
            else:
                clock.now += seconds_to_wait
            assert passes(limit, count)


@settings(deadline=None)
@given(LIMITS, REQUESTS)
def test_the_limit_holds_in_the_long_run(numbers: tuple[int, int], requests: list[tuple[float, float]]) -> None:
    amount, seconds = numbers
    passed: list[tuple[float, int]] = []
    with at() as clock:
        limit = RateLimit(f"{amount}/{seconds} seconds")
        for pause, share in requests:
            clock.now += pause * seconds / 5
            if passes(limit, count := 1 + int(share * (amount - 1))):
                passed.append((clock.now, count))
    for began, _ in passed:
        for windows in (1, 2, 3, 4):
            span = [count for time, count in passed if began <= time < began + windows * seconds]
            assert sum(span) <= (windows + 1) * amount


async def test_callers_of_the_past_are_forgotten(clock: Clock, until: Until) -> None:
    limit = RateLimit("10/minute")
    for number in range(2000):
        limit.take(f"caller {number}", 1)
    assert len(limit.storage.storage) == 2000
    clock.now += 121

    def is_small() -> bool:
        # The library looks through its numbers after a request.
        return passes(limit, who="anna") is not None and len(limit.storage.storage) == 1

    await until(is_small)
    assert len(limit.storage.locks) <= 2


@pytest.mark.parametrize(("keys", "known"), [((), "127.0.0.1"), (("k1", "k2"), hashlib.sha256(b"k1").hexdigest())])
def test_the_one_who_is_counted_is_the_key_or_else_the_address(
    keys: tuple[str, ...], known: str, tmp_path: Path
) -> None:
    chosen = Settings(cache=tmp_path, api_keys=keys)
    limit, seen = RateLimit("1/day"), []
    app = FastAPI()
    install_problem_handlers(app)

    @app.get("/")
    async def take(request: Request) -> None:
        seen.append(caller_identity(request, chosen))
        limit.take(seen[-1], 1)

    with running(app) as address:
        first, second = (httpx2.get(address, headers={"Authorization": "Bearer k1"}) for _ in range(2))
        other = httpx2.get(address, headers={"Authorization": "Bearer k2"})
    assert (first.status_code, second.status_code) == (200, 429)
    assert other.status_code == (200 if keys else 429)
    assert seen[:2] == [known, known]
    assert 1 <= int(second.headers["retry-after"]) <= 2 * 86400
    assert second.json()["type"] == "urn:ape:problem:too-many"
