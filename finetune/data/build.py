"""Build a training set from paragraphs: filter, split by book, deduplicate and select, counting every step.

Broken paragraphs are dropped from every split. Paragraphs that are too long, repeated or not worth learning from are
dropped from train only: a test set chosen by the same rules would flatter the models trained by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from ape.errors import InputError
from finetune.data import filters
from finetune.data.duplicates import drop_duplicates, drop_near_duplicates, drop_overlapping
from finetune.data.example import SPLITS, Example
from finetune.data.funnel import FilterFunnel
from finetune.data.paragraph import TrainingParagraph
from finetune.data.recipe import DataRecipe, FilterName
from finetune.data.selection import choose_held_out_examples, choose_train_examples, select_paragraphs
from finetune.data.split import split_by_book
from finetune.data.stutter import make_stutter_examples
from finetune.data.token_counter import TokenCounter

T = TypeVar("T")
# Iterates over items and shows progress.
ProgressWrapper = Callable[[str, Sequence[T]], Iterable[T]]


def without_progress(_what: str, items: Sequence[T]) -> Iterable[T]:
    """Show no progress."""
    return items


@dataclass(slots=True)
class TrainingSet:
    """A training set with its filter counts and notes for the user."""

    splits: dict[str, list[Example]] = field(default_factory=dict)
    funnel: FilterFunnel = field(default_factory=FilterFunnel)
    remarks: list[str] = field(default_factory=list)
    read: int = 0


def build_training_set(
    paragraphs: Sequence[TrainingParagraph],
    recipe: DataRecipe,
    *,
    counter: TokenCounter,
    watch: ProgressWrapper[TrainingParagraph] = without_progress,
) -> TrainingSet:
    """Build the examples. The same paragraphs, recipe and counter give the same examples in the same order."""
    built = TrainingSet(read=len(paragraphs))
    clean = _filter_all_splits(paragraphs, recipe, built.funnel, watch)
    if not clean:
        raise InputError(f"No paragraph is left of {len(paragraphs):,}: {built.funnel.losses()}.")
    clean, built.remarks = split_by_book(clean, shares=recipe.shares, seed=recipe.seed)
    sides = _remove_overlap(
        {side: [one for one in clean if one.split == side] for side in SPLITS}, recipe, built.funnel
    )
    fit = _filter_train_split(sides["train"], recipe, counter, built.funnel)
    chosen = select_paragraphs(fit, recipe, built.funnel)
    built.splits["train"], remarks = choose_train_examples(fit, chosen, recipe, built.funnel)
    built.remarks += remarks
    stutters, remarks = make_stutter_examples(
        built.splits["train"], recipe.stutter_share, tokens=recipe.tokens, counter=counter, seed=recipe.seed
    )
    built.splits["train"] += stutters
    built.remarks += remarks
    for side, take in (("dev", recipe.take_dev), ("test", recipe.take_test)):
        held = sides[side]
        if recipe.select_held_out:
            held = select_paragraphs(_filter_train_split(held, recipe, counter, FilterFunnel()), recipe, FilterFunnel())
        built.splits[side] = choose_held_out_examples(held, take, side=side, seed=recipe.seed)
    _refuse_too_few(built, paragraphs, recipe)
    return built


def _filter_all_splits(
    paragraphs: Sequence[TrainingParagraph],
    recipe: DataRecipe,
    funnel: FilterFunnel,
    watch: ProgressWrapper[TrainingParagraph],
) -> list[TrainingParagraph]:
    """Filters for all splits: untranslated, broken, foreign or misaligned paragraphs."""
    left = [one for one in paragraphs if one.humans]
    if len(left) < len(paragraphs):
        funnel.record("untranslated", paragraphs, left)
    for name, keep in filters.FILTERS.items():
        if recipe.uses(name):
            kept = [good for one in watch(name, left) if (good := keep(one, recipe))]
            funnel.record(name, left, kept)
            left = kept
    return [filters.put_best_reference_first(one) for one in watch("best reference", left)]


def _filter_train_split(
    paragraphs: Sequence[TrainingParagraph], recipe: DataRecipe, counter: TokenCounter, funnel: FilterFunnel
) -> list[TrainingParagraph]:
    """Filters for train only: too long or repeated. Dev and test are not filtered by these."""
    steps: dict[FilterName, Callable[[list[TrainingParagraph]], list[TrainingParagraph]]] = {
        "tokens": lambda found: [
            one for one, count in zip(found, counter(found), strict=True) if count <= recipe.tokens
        ],
        "duplicate": drop_duplicates,
        "near duplicate": lambda found: drop_near_duplicates(found, likeness=recipe.near),
    }
    left = list(paragraphs)
    for name, work in steps.items():
        if recipe.uses(name):
            kept = work(left)
            funnel.record(name, left, kept, side="train")
            left = kept
    return left


def _remove_overlap(
    sides: dict[str, list[TrainingParagraph]], recipe: DataRecipe, funnel: FilterFunnel
) -> dict[str, list[TrainingParagraph]]:
    """Remove near-duplicates across splits: test keeps its own, then dev, then train."""
    if not recipe.uses("on both sides"):
        return sides
    dev = drop_overlapping(sides["dev"], sides["test"], likeness=recipe.near)
    train = drop_overlapping(sides["train"], [*dev, *sides["test"]], likeness=recipe.near)
    kept = {"train": train, "dev": dev, "test": sides["test"]}
    funnel.record("on both sides", [*chain(*sides.values())], [*chain(*kept.values())])
    return kept


def _refuse_too_few(built: TrainingSet, paragraphs: Sequence[TrainingParagraph], recipe: DataRecipe) -> None:
    count = len(built.splits["train"])
    if count < recipe.fewest:
        raise InputError(
            f"{count:,} examples to train on are left of {len(paragraphs):,} paragraphs, and at least "
            f"{recipe.fewest:,} are needed: {built.funnel.losses()}."
        )
    for side in SPLITS[1:]:
        if any(one.split == side for one in paragraphs) and not built.splits[side]:
            raise InputError(f"Nothing is left of {side}: {built.funnel.losses()}.")
