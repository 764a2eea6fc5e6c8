"""Split by book: a model trained on half of a novel knows the names of the other half."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ape.errors import InputError
from finetune.data.example import SPLITS
from finetune.data.paragraph import TrainingParagraph


def split_by_book(
    paragraphs: Sequence[TrainingParagraph], *, shares: Sequence[float], seed: int
) -> tuple[list[TrainingParagraph], list[str]]:
    """Assign a split to each paragraph, with notes for the user. Given splits stay."""
    remarks: list[str] = []
    sides = _preassigned_splits(paragraphs)
    if not sides:
        counts = Counter(one.book for one in paragraphs)
        sides = assign_splits(counts, shares=shares, seed=seed)
        remarks = _remarks(counts, sides, shares)
    return [replace(one, split=sides[one.book]) for one in paragraphs], remarks


def _preassigned_splits(paragraphs: Sequence[TrainingParagraph]) -> dict[str, str]:
    """The given splits by book; InputError for a book in two of them."""
    sides: dict[str, str] = {}
    for one in paragraphs:
        if one.split is not None and sides.setdefault(one.book, one.split) != one.split:
            raise InputError(
                f"The book {one.book!r} is both in {sides[one.book]} and in {one.split} (paragraph {one.id}). "
                "A book belongs to one side: what is learnt of it would be measured on it."
            )
    return sides


def assign_splits(counts: Mapping[str, int], *, shares: Sequence[float], seed: int) -> dict[str, str]:
    """Assign books to splits at random, by seed, so that paragraphs are close to the shares.

    Two books are train and dev; one is train.
    """
    books = sorted(counts)
    random.Random(f"split:{seed}").shuffle(books)
    wanted = {side: share * sum(counts.values()) for side, share in zip(SPLITS, shares, strict=True) if share}
    room = dict(wanted)
    sides: dict[str, str] = {}
    for book in books:
        fitting = [side for side in wanted if room[side] >= counts[book] / 2]
        side = max(fitting, key=lambda one: room[one] / wanted[one], default="train")
        sides[book] = side
        room[side] -= counts[book]
    for side in wanted:
        _fill_empty_split(side, sides, counts)
    return sides


def _fill_empty_split(side: str, sides: dict[str, str], counts: Mapping[str, int]) -> None:
    """Give an empty split the smallest book of the split with most books, if others are left."""
    held = Counter(sides.values())
    if held[side] or not held:
        return
    richest = max(sorted(held), key=lambda one: held[one])
    if held[richest] > 1:
        book = min((book for book in sorted(sides) if sides[book] == richest), key=lambda one: counts[one])
        sides[book] = side
    elif side == "train":
        sides[next(book for book in sorted(sides) if sides[book] == richest)] = side


def _remarks(counts: Mapping[str, int], sides: Mapping[str, str], shares: Sequence[float]) -> list[str]:
    held = set(sides.values())
    missing = [side for side, share in zip(SPLITS, shares, strict=True) if share and side not in held]
    if not missing:
        return []
    books = "1 book" if len(counts) == 1 else f"{len(counts)} books"
    return [
        f"There is no {' and no '.join(missing)}: the paragraphs are of {books}, and a book is never cut. Give more "
        "books, or treat a number of rows as a book (rows_as_book)."
    ]
