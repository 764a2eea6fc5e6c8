"""Rate limits: passages per time for each key."""

from __future__ import annotations

from fastapi import Request
from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from ape.errors import Busy, InputError, TooLong
from ape.settings import Settings
from serve.middleware.http_exchange import api_key_hash, client_address

# The share of the last window falls below the mark just after the moment worked out here.
_WAIT_MARGIN_SECONDS = 0.001


class TooMany(Busy):
    """The caller has reached its rate limit."""

    title = "Too many passages"


class RateLimit:
    """Limits for each caller: "600/minute", several as in "20/second; 600/minute", or None for no limit.

    Counted by a sliding window: two numbers for each caller, however high the limit, forgotten after two windows. It
    takes the passages of the last window as spread evenly over it. So, as with a token bucket, one who was silent may
    have up to twice the limit in one window's time, but no more than the limit in the long run.
    """

    def __init__(self, text: str | None) -> None:
        self.limits = _parse(text) if text is not None else []
        self.storage = MemoryStorage()
        self._windows = SlidingWindowCounterRateLimiter(self.storage)

    def take(self, identity: str, count: int) -> None:
        """Count the passages, all or none.

        Raises TooMany with the seconds to wait, or TooLong if the limit could never admit them.
        """
        for limit in self.limits:
            if count > limit.amount:
                raise TooLong(
                    f"The request has {count:,} passages, and the limit is {_words(limit)}. Send it in parts.",
                    actual=count,
                    limit=limit.amount,
                )
        full = [limit for limit in self.limits if not self._windows.test(limit, identity, cost=count)]
        if full:
            wait, limit = max((self._wait(limit, identity, count), limit) for limit in full)
            raise TooMany(
                f"The limit is {_words(limit)}, and {count:,} more would pass in {wait:.0f} seconds.", retry_after=wait
            )
        for limit in self.limits:
            self._windows.hit(limit, identity, cost=count)

    def _wait(self, limit: RateLimitItem, identity: str, count: int) -> float:
        """Seconds until that many passages are allowed, if the caller sends nothing else.

        They pass when the last window's passages, weighed by how much of this window is left, and this window's
        together leave that much room.
        """
        length = limit.get_expiry()
        before, _, now, ttl = self.storage.get_sliding_window(limit.key_for(identity), length)
        left = ttl - length
        room = limit.amount - count + 1  # what counts already has to be below this
        if now < room:
            wait = left - (room - now) * length / before if before else 0.0
        else:
            wait = left + length - room * length / now
        return max(0.0, wait) + _WAIT_MARGIN_SECONDS


def caller_identity(request: Request, settings: Settings) -> str:
    """Identify a caller by key, or by address if the service has no keys."""
    return (api_key_hash(request.scope) if settings.api_keys else client_address(request.scope)) or ""


def _parse(text: str) -> list[RateLimitItem]:
    try:
        limits = parse_many(text)
    except ValueError:
        limits = []
    if not limits or any(limit.amount < 1 for limit in limits):
        raise InputError(
            f"rate_limit: {text[:80]!r} is not a rate limit. Write passages and a time, as in 600/minute or "
            "20/second; 5000/day.",
            field="rate_limit",
        )
    return limits


def _words(limit: RateLimitItem) -> str:
    name = limit.GRANULARITY.name
    time = name if limit.multiples == 1 else f"{limit.multiples} {name}s"
    return f"{limit.amount:,} passages per {time}"
