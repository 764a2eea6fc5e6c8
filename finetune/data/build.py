"""From paragraphs to a training set: filtered, split by book, kept apart, chosen; every step counted.

What is broken goes from every side. What is too long, repeated, or not worth learning from goes from train alone: a
test set that was chosen by the same rules would flatter whoever was trained by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from ape.errors import InputError
from finetune.data import filters
from finetune.data.choose import held_out_examples, select, train_examples
from finetune.data.duplicates import unlike, without_near_repeats, without_repeats
from finetune.data.funnel import Funnel
from finetune.data.paragraph import Paragraph
from finetune.data.recipe import FilterName, Recipe
from finetune.data.split import split_by_book
from finetune.data.stutter import stuttering
from finetune.data.tokens import TokenCounter
from finetune.example import SPLITS, Example

T = TypeVar("T")
# Goes through items one by one, and shows how far it is.
Watch = Callable[[str, Sequence[T]], Iterable[T]]


def unwatched(_what: str, items: Sequence[T]) -> Iterable[T]:
    """Without any show."""
    return items


@dataclass(slots=True)
class Built:
    """A training set, with how it came about and what the user should know."""

    splits: dict[str, list[Example]] = field(default_factory=dict)
    funnel: Funnel = field(default_factory=Funnel)
    remarks: list[str] = field(default_factory=list)
    read: int = 0


def build(
    paragraphs: Sequence[Paragraph],
    recipe: Recipe,
    *,
    counter: TokenCounter,
    watch: Watch[Paragraph] = unwatched,
) -> Built:
    """Make the examples. The same paragraphs, recipe and counter give the same examples in the same order."""
    built = Built(read=len(paragraphs))
    clean = _clean(paragraphs, recipe, built.funnel, watch)
    if not clean:
        raise InputError(f"No paragraph is left of {len(paragraphs):,}: {built.funnel.losses()}.")
    clean, built.remarks = split_by_book(clean, shares=recipe.shares, seed=recipe.seed)
    sides = _apart(
        {side: [one for one in clean if one.split == side] for side in SPLITS}, recipe, built.funnel
    )
    fit = _fit(sides["train"], recipe, counter, built.funnel)
    chosen = select(fit, recipe, built.funnel)
    built.splits["train"], remarks = train_examples(fit, chosen, recipe, built.funnel)
    built.remarks += remarks
    stutters, remarks = stuttering(
        built.splits["train"],
        recipe.stutter_share,
        tokens=recipe.tokens,
        counter=counter,
        seed=recipe.seed,
    )
    built.splits["train"] += stutters
    built.remarks += remarks
    for side, take in (("dev", recipe.take_dev), ("test", recipe.take_test)):
        held = sides[side]
        if recipe.select_held_out:
            held = select(_fit(held, recipe, counter, Funnel()), recipe, Funnel())
        built.splits[side] = held_out_examples(held, take, side=side, seed=recipe.seed)
    _refuse_too_few(built, paragraphs, recipe)
    return built


def _clean(
    paragraphs: Sequence[Paragraph], recipe: Recipe, funnel: Funnel, watch: Watch[Paragraph]
) -> list[Paragraph]:
    """What concerns every side alike: untranslated, broken, foreign, misaligned."""
    left = [one for one in paragraphs if one.humans]
    if len(left) < len(paragraphs):
        funnel.record("untranslated", paragraphs, left)
    for name, keep in filters.FILTERS.items():
        if recipe.uses(name):
            kept = [good for one in watch(name, left) if (good := keep(one, recipe))]
            funnel.record(name, left, kept)
            left = kept
    return [filters.best_reference(one) for one in watch("best reference", left)]


def _fit(
    paragraphs: Sequence[Paragraph], recipe: Recipe, counter: TokenCounter, funnel: Funnel
) -> list[Paragraph]:
    """Those that can be trained on and are not there already. What is measured on stays whole: long, and repeated."""
    steps: dict[FilterName, Callable[[list[Paragraph]], list[Paragraph]]] = {
        "tokens": lambda found: [
            one for one, count in zip(found, counter(found), strict=True) if count <= recipe.tokens
        ],
        "duplicate": without_repeats,
        "near duplicate": lambda found: without_near_repeats(found, likeness=recipe.near),
    }
    left = list(paragraphs)
    for name, work in steps.items():
        if recipe.uses(name):
            kept = work(left)
            funnel.record(name, left, kept, side="train")
            left = kept
    return left


def _apart(sides: dict[str, list[Paragraph]], recipe: Recipe, funnel: Funnel) -> dict[str, list[Paragraph]]:
    """The sides, with nothing on one that is nearly on another: test keeps its own, then dev, then train."""
    if not recipe.uses("on both sides"):
        return sides
    dev = unlike(sides["dev"], sides["test"], likeness=recipe.near)
    train = unlike(sides["train"], [*dev, *sides["test"]], likeness=recipe.near)
    kept = {"train": train, "dev": dev, "test": sides["test"]}
    funnel.record("on both sides", [*chain(*sides.values())], [*chain(*kept.values())])
    return kept


def _refuse_too_few(built: Built, paragraphs: Sequence[Paragraph], recipe: Recipe) -> None:
    count = len(built.splits["train"])
    if count < recipe.fewest:
        raise InputError(
            f"{count:,} examples to train on are left of {len(paragraphs):,} paragraphs, and at least "
            f"{recipe.fewest:,} are needed: {built.funnel.losses()}."
        )
    for side in SPLITS[1:]:
        if any(one.split == side for one in paragraphs) and not built.splits[side]:
            raise InputError(f"Nothing is left of {side}: {built.funnel.losses()}.")
