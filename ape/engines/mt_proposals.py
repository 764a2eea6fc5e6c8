"""Propose the next tokens of a draft from the MT: most of a post-edit is a copy of it.

A batch of many tokens takes less time a token than single tokens do, but not always much less: on a core that computes
more slowly than it reads memory, 64 tokens of a model of 1.5 billion parameters take as long as 28 single ones. A
proposal is made only if the tokens that will probably be accepted are worth its time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ape.engines.mt_follower import MtFollower

# The time of a batch by its tokens, in times of a single token, until it is measured (Qwen2.5-1.5B in 4 bits, one core
# with AVX2). Between multiples of 16 it rises at once: 17 tokens take as long as 26.
_FIRST_TIMES = {1: 1.0, 4: 4.0, 8: 8.8, 16: 9.6, 32: 16.5, 48: 23.2, 64: 28.0, 128: 56.0, 256: 110.0}
_TIME_WEIGHT = 0.1
# The agreement of draft and MT until it is measured, the tokens over which it is averaged, and how many tokens of a
# passage count as much as all passages before it.
_FIRST_AGREEMENT, _MEMORY, _OWN_TOKENS = 0.98, 2000, 20


class BatchTimes:
    """The time of a batch by the number of its tokens, as measured so far."""

    def __init__(self) -> None:
        self._times = dict(_FIRST_TIMES)
        self._unit: float | None = None  # the seconds of a single token when it was first measured

    def measured(self, tokens: int, seconds: float) -> None:
        """Take the time of a batch whose predictions were all asked for."""
        if self._unit is None:
            if tokens != 1:
                return
            self._unit = seconds
        size = min(self._times, key=lambda one: abs(one - tokens))
        error = seconds / self._unit / self.of(tokens)
        self._times[size] *= 1 + _TIME_WEIGHT * (min(error, 3.0) - 1)

    def of(self, tokens: int) -> float:
        """The estimated time of a batch, in a unit of its own."""
        for (below, low), (above, high) in pairwise(self._times.items()):
            if tokens <= above:
                return low + (high - low) * (tokens - below) / (above - below)
        return self._times[256] * tokens / 256


class Agreement:
    """How often a draft that follows the MT agrees with its next token."""

    def __init__(self) -> None:
        self._agreed, self._seen = _FIRST_AGREEMENT * _OWN_TOKENS, float(_OWN_TOKENS)

    def add(self, *, agreed: bool) -> None:
        """Take one more token."""
        if self._seen >= _MEMORY:
            self._agreed, self._seen = self._agreed / 2, self._seen / 2
        self._agreed += agreed
        self._seen += 1

    @property
    def share(self) -> float:
        """The share so far."""
        return self._agreed / self._seen


class MtProposals:
    """Follows a draft through the reply that leaves the MT as it is, and proposes what is worth its time.

    A proposal that is wrong costs time and never changes the draft, since every token is compared with the model's own
    choice.
    """

    def __init__(self, unedited: Sequence[int], agreement: Agreement, times: BatchTimes) -> None:
        self._follower = MtFollower(unedited)
        self._agreement, self._times = agreement, times
        self._prior = agreement.share
        self._agreed = self._seen = 0

    def propose(self, batch: int, limit: int) -> Sequence[int]:
        """The tokens that probably follow, at most `limit`, for a batch that has `batch` tokens already.

        None while the draft differs from the MT, or if they are not worth their time.
        """
        rest = len(self._follower.rest(limit))
        share = (self._prior * _OWN_TOKENS + self._agreed) / (_OWN_TOKENS + self._seen)
        # Batches of a multiple of 16 take the least time a token.
        sizes = {min(rest, size - batch % 16) for size in (16, 32, 48, 64, 80)}
        length = max((size for size in sizes if size > 0), key=lambda size: self._gain(size, batch, share), default=0)
        if length == 0 or self._gain(length, batch, share) <= 0:
            return ()
        return self._follower.rest(length)

    def _gain(self, length: int, batch: int, share: float) -> float:
        """The time that a proposal probably saves."""
        accepted = length if share >= 1 else share * (1 - share**length) / (1 - share)
        single = self._times.of(batch + 1) - self._times.of(batch) if batch > 1 else self._times.of(1)
        return accepted * max(single, self._times.of(1)) - (self._times.of(batch + length) - self._times.of(batch))

    def add(self, token: int) -> None:
        """Take the next token of the draft."""
        agreed = self._follower.add(token)
        if agreed is not None:
            self._seen += 1
            self._agreed += agreed
            self._agreement.add(agreed=agreed)
