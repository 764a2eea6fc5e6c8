"""Order of training examples: batches of similar length, shuffled by seed and epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

# Batches sorted by length together. A larger pool wastes less padding and makes batches less random.
POOL = 32


class LengthGroupedSampler:
    """Yield indices so that each run of `batch` examples has about the same length.

    The order does not depend on the micro-batch or the number of processes: these take consecutive parts of it. The
    longest batch comes first, so that running out of memory fails immediately. The last batch is padded with the index
    after the last example (`FILLER_EXAMPLE`), so that every process has its part of every batch.
    """

    def __init__(self, lengths: Sequence[int], batch: int, *, seed: int) -> None:
        self._lengths = lengths
        self._batch = batch
        self._seed = seed
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of this epoch."""
        self._epoch = epoch

    def __len__(self) -> int:
        return -(-len(self._lengths) // self._batch) * self._batch

    def __iter__(self) -> Iterator[int]:
        for batch in self.batches():
            yield from batch

    def batches(self) -> list[list[int]]:
        """The batches of the epoch; an incomplete one comes last."""
        random = Random(f"{self._seed}/{self._epoch}")
        order = list(range(len(self._lengths)))
        random.shuffle(order)
        full: list[list[int]] = []
        partial: list[list[int]] = []
        for start in range(0, len(order), self._batch * POOL):
            pool = sorted(order[start : start + self._batch * POOL], key=lambda at: (self._lengths[at], at))
            for first in range(0, len(pool), self._batch):
                batch = pool[first : first + self._batch]
                (full if len(batch) == self._batch else partial).append(batch)
        random.shuffle(full)
        if full:
            longest = max(full, key=lambda batch: max(self._lengths[at] for at in batch))
            full.remove(longest)
            full.insert(0, longest)
        filler = len(self._lengths)
        return full + [batch + [filler] * (self._batch - len(batch)) for batch in partial]
