"""The order of training: batches of like lengths, shuffled by seed and epoch, the same however a batch is divided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

# Batches sorted together. More waste less on padding, and make the batches less random.
POOL = 32


class LengthGroupedSampler:
    """Examples in an order in which every `batch` of them in a row have about the same length.

    The order does not depend on how many of a batch go through the model at once, or in how many processes: these take
    consecutive parts of it. The longest batch comes first, so that what does not fit into memory fails at once. The
    last batch is filled up with the place after the last, where a blank stands that teaches nothing, so that every
    process has its part of every batch.
    """

    def __init__(self, lengths: Sequence[int], batch: int, *, seed: int) -> None:
        self._lengths = lengths
        self._batch = batch
        self._seed = seed
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Another order for each."""
        self._epoch = epoch

    def __len__(self) -> int:
        return -(-len(self._lengths) // self._batch) * self._batch

    def __iter__(self) -> Iterator[int]:
        for batch in self.batches():
            yield from batch

    def batches(self) -> list[list[int]]:
        """The batches of the epoch; one that was not full comes last."""
        random = Random(f"{self._seed}/{self._epoch}")
        order = list(range(len(self._lengths)))
        random.shuffle(order)
        whole: list[list[int]] = []
        rest: list[list[int]] = []
        for start in range(0, len(order), self._batch * POOL):
            pool = sorted(order[start : start + self._batch * POOL], key=lambda at: (self._lengths[at], at))
            for first in range(0, len(pool), self._batch):
                batch = pool[first : first + self._batch]
                (whole if len(batch) == self._batch else rest).append(batch)
        random.shuffle(whole)
        if whole:
            longest = max(whole, key=lambda batch: max(self._lengths[at] for at in batch))
            whole.remove(longest)
            whole.insert(0, longest)
        blank = len(self._lengths)
        return whole + [batch + [blank] * (self._batch - len(batch)) for batch in rest]
