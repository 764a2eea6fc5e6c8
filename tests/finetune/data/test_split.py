"""Splits by book."""

from __future__ import annotations

from collections import Counter

import pytest

from ape.errors import InputError
from finetune.data.split import assign_splits, split_by_book
from tests.finetune.data.sample_text import paragraph, paragraphs

SHARES = (0.8, 0.1, 0.1)


@pytest.mark.parametrize("seed", range(5))
def test_books_of_many_sizes_come_near_the_shares(seed: int) -> None:
    counts = {f"book{number}": 50 + 37 * number % 200 for number in range(60)}
    sides = assign_splits(counts, shares=SHARES, seed=seed)
    held: Counter[str] = Counter()
    for book, count in counts.items():
        held[sides[book]] += count
    for side, share in zip(("train", "dev", "test"), SHARES, strict=True):
        assert held[side] / held.total() == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize(("books", "sides"), [(1, ["train"]), (2, ["dev", "train"]), (3, ["dev", "test", "train"])])
def test_few_books_fill_train_then_dev_then_test(books: int, sides: list[str]) -> None:
    for seed in range(8):
        counts = {f"book{number}": 100 * (number + 1) for number in range(books)}
        assert sorted(set(assign_splits(counts, shares=SHARES, seed=seed).values())) == sides


def test_the_seed_decides() -> None:
    counts = {f"book{number}": 100 for number in range(30)}
    first = assign_splits(counts, shares=SHARES, seed=1)
    assert first == assign_splits(dict(reversed(counts.items())), shares=SHARES, seed=1)
    assert first != assign_splits(counts, shares=SHARES, seed=2)


def test_too_few_books_are_said() -> None:
    _, remarks = split_by_book(paragraphs(10, books=2), shares=SHARES, seed=1)
    assert remarks == [
        "There is no test: the paragraphs are of 2 books, and a book is never cut. Give more books, or treat a "
        "number of rows as a book (rows_as_book)."
    ]


def test_a_book_on_two_given_sides_is_refused() -> None:
    with pytest.raises(InputError, match="'mill_fr' is both in train and in dev"):
        split_by_book([paragraph(1, split="train"), paragraph(2, split="dev")], shares=SHARES, seed=1)
