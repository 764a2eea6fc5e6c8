"""The order of training."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from finetune.training.batches import POOL, LengthGroupedSampler


@given(st.lists(st.integers(1, 90), max_size=300), st.integers(1, 9), st.integers(0, 3))
def test_each_example_comes_once_and_blanks_only_fill_the_last_batch(
    lengths: list[int], batch: int, epoch: int
) -> None:
    order = LengthGroupedSampler(lengths, batch, seed=1)
    order.set_epoch(epoch)
    seen = list(order)
    assert sorted(place for place in seen if place < len(lengths)) == list(range(len(lengths)))
    assert len(seen) == len(order) == -(-len(lengths) // batch) * batch
    assert all(place < len(lengths) for place in seen[: len(lengths)])


def test_an_epoch_has_its_own_order_and_it_is_always_the_same() -> None:
    lengths = [place % 13 + 1 for place in range(100)]
    order = LengthGroupedSampler(lengths, 8, seed=1)
    first = list(order)
    order.set_epoch(1)
    second = list(order)
    order.set_epoch(0)
    assert list(order) == first != second
    assert list(LengthGroupedSampler(lengths, 8, seed=2)) != first


def test_batches_are_of_like_lengths_and_the_longest_is_first() -> None:
    lengths = [(place * 37) % 101 + 1 for place in range(8 * POOL)]
    batches = LengthGroupedSampler(lengths, 8, seed=1).batches()
    spreads = [max(lengths[at] for at in batch) - min(lengths[at] for at in batch) for batch in batches]
    assert max(spreads) <= 4  # by chance it would be about 80
    assert max(lengths) in [lengths[at] for at in batches[0]]
