"""Select training examples: PAR3's percentiles, edit rate, numbers of examples, identities.

A post-editor that only ever sees repairs learns to repair what is whole. So a share of the training set are identities,
MT in and the same MT out. First come those that are true: an MT that the person left as it was (or up to
`identity_edit_rate`), whatever the filters of edits would say of it, since PAR3's upper percentile takes away just
these; the tally counts them among those that come to the choice of identities. Where they do not suffice, as with
literary translations that never equal the MT, identities are made: the human version stands for the MT, which teaches
that good text is to be left alone. Those come from paragraphs that are not trained on otherwise, as long as there are
some, so that none is learnt by heart in two ways.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ape.edits.diff import edit_rate
from ape.errors import InputError
from finetune.data import filters
from finetune.data.example import Example
from finetune.data.funnel import FilterFunnel
from finetune.data.paragraph import TrainingParagraph
from finetune.data.recipe import DataRecipe
from finetune.data.sentence_bleu import aggregate_bleu

T = TypeVar("T")
IDENTITY_SUFFIX = "=human"


def select_paragraphs(
    paragraphs: Sequence[TrainingParagraph], recipe: DataRecipe, funnel: FilterFunnel
) -> list[TrainingParagraph]:
    """Filter by distance of the human version from the MT, and limit the share of each book."""
    left = list(paragraphs)
    if recipe.uses("percentile"):
        left = _record_step(funnel, "percentile", left, filter_by_bleu_percentiles(left, recipe))
    if recipe.uses("edit rate") and recipe.edit_rate is not None:
        left = _record_step(funnel, "edit rate", left, [one for one in left if filters.drop_by_edit_rate(one, recipe)])
    if recipe.uses("book share") and recipe.book_share < 1:
        left = _record_step(funnel, "book share", left, limit_share_of_books(left, recipe))
    return left


def _record_step(
    funnel: FilterFunnel, name: str, before: list[TrainingParagraph], after: list[TrainingParagraph]
) -> list[TrainingParagraph]:
    funnel.record(name, before, after, side="train")
    return after


def filter_by_bleu_percentiles(paragraphs: Sequence[TrainingParagraph], recipe: DataRecipe) -> list[TrainingParagraph]:
    """Drop the lowest and highest percentiles of aggregated BLEU in each language pair."""
    scores = [aggregate_bleu(one) for one in paragraphs]
    by_pair: dict[str, list[float]] = defaultdict(list)
    for one, score in zip(paragraphs, scores, strict=True):
        by_pair[one.pair].append(score)
    limits = {pair: np.percentile(found, recipe.percentiles) for pair, found in by_pair.items()}
    return [
        one
        for one, score in zip(paragraphs, scores, strict=True)
        if limits[one.pair][0] <= score <= limits[one.pair][1]
    ]


def limit_share_of_books(paragraphs: Sequence[TrainingParagraph], recipe: DataRecipe) -> list[TrainingParagraph]:
    """Sample at most the given share of each book."""
    room = {book: int(count * recipe.book_share) for book, count in Counter(p.book for p in paragraphs).items()}
    kept = set()
    for one in _shuffled(paragraphs, f"book share:{recipe.seed}"):
        if room[one.book]:
            room[one.book] -= 1
            kept.add(one.id)
    return [one for one in paragraphs if one.id in kept]


def _shuffled(items: Sequence[T], seed: str) -> list[T]:
    found = list(items)
    random.Random(seed).shuffle(found)
    return found


def sample_items(items: Sequence[T], count: int, *, seed: str) -> list[T]:
    """A random sample in the original order; all items if there are no more."""
    chosen = sorted(_shuffled(range(len(items)), seed)[:count])
    return [items[place] for place in chosen]


@dataclass(frozen=True, slots=True)
class _Supply:
    """Candidates for training of a language pair."""

    edits: Sequence[TrainingParagraph]
    good: Sequence[TrainingParagraph]
    clean: Sequence[TrainingParagraph]

    def whole(self, share: float) -> int:
        """Number of examples from all edits with their share of identities."""
        return round(len(self.edits) / (1 - share))

    def identities(self, wanted: int, seed: str) -> list[TrainingParagraph]:
        """Sample identities; a smaller sample is a subset of a larger one."""
        return sample_items(self.good, wanted, seed=f"identities:{seed}")


@dataclass(frozen=True, slots=True)
class _Selection:
    """Selected examples of a language pair: edits, natural identities and artificial ones."""

    edits: Sequence[TrainingParagraph]
    good: Sequence[TrainingParagraph]
    made: Sequence[TrainingParagraph]

    def examples(self) -> list[Example]:
        """Edits first."""
        return [
            *(replace(one.to_example(), kind="edit") for one in self.edits),
            *(replace(one.to_example(), human=one.mt, kind="identity") for one in self.good),
            *(
                replace(one.to_example(), id=f"{one.id}{IDENTITY_SUFFIX}", mt=one.human, kind="identity")
                for one in self.made
            ),
        ]


def choose_train_examples(
    clean: Sequence[TrainingParagraph], chosen: Sequence[TrainingParagraph], recipe: DataRecipe, funnel: FilterFunnel
) -> tuple[list[Example], list[str]]:
    """Select the training set, with notes for the user.

    Of each language pair it has its number, with the share of identities among them as far as there are any.
    """
    supplies = _supplies(clean, chosen, recipe)
    shared = _limit_identity_share(supplies, recipe, funnel)
    numbers = _numbers(supplies, recipe, funnel)
    picked: list[_Selection] = []
    remarks: list[str] = []
    for pair, supply in supplies.items():
        wanted = round(numbers[pair] * recipe.identity_share)
        found = _pick_for_pair(supply, numbers[pair] - wanted, wanted, f"{pair}:{recipe.seed}")
        picked.append(found)
        identities = len(found.good) + len(found.made)
        if identities < wanted:
            remarks.append(_too_few(pair, len(found.edits), identities, wanted, recipe.identity_share))
    left = [one for found in picked for one in (*found.edits, *found.good)]
    _record_step(funnel, "take" if recipe.take else "sample", shared, left)
    return [example for found in picked for example in found.examples()], remarks


def _limit_identity_share(
    supplies: Mapping[str, _Supply], recipe: DataRecipe, funnel: FilterFunnel
) -> list[TrainingParagraph]:
    """All edits, with identities up to their share."""
    came: list[TrainingParagraph] = []
    left: list[TrainingParagraph] = []
    for pair, supply in supplies.items():
        wanted = round(supply.whole(recipe.identity_share) * recipe.identity_share)
        came += [*supply.edits, *supply.good]
        left += [*supply.edits, *supply.identities(wanted, f"{pair}:{recipe.seed}")]
    return _record_step(funnel, "identity share", came, left)


def _too_few(pair: str, edits: int, identities: int, wanted: int, share: float) -> str:
    return (
        f"Of {pair}, {wanted:,} identities were wanted (a share of {share:g}), and its paragraphs gave {identities:,}: "
        f"they are {identities / (edits + identities):.0%} of its {edits + identities:,} examples."
    )


def _supplies(
    clean: Sequence[TrainingParagraph], chosen: Sequence[TrainingParagraph], recipe: DataRecipe
) -> dict[str, _Supply]:
    good = {one.id for one in clean if edit_rate(one.mt, one.human) <= recipe.identity_edit_rate}
    pairs = sorted({one.pair for one in clean})
    return {
        pair: _Supply(
            [one for one in chosen if one.pair == pair and one.id not in good],
            [one for one in clean if one.pair == pair and one.id in good],
            [one for one in clean if one.pair == pair],
        )
        for pair in pairs
    }


def _numbers(supplies: Mapping[str, _Supply], recipe: DataRecipe, funnel: FilterFunnel) -> dict[str, int]:
    """Number of examples for each language pair: as requested, or all, within the sample."""
    unknown = sorted(set(recipe.take) - set(supplies))
    if unknown:
        there = ", ".join(supplies) or "none"
        raise InputError(
            f"{unknown[0]} was requested, and no paragraph of it is left ({funnel.losses(unknown[0])}). "
            f"There is: {there}."
        )
    whole = {pair: supply.whole(recipe.identity_share) for pair, supply in supplies.items()}
    if recipe.take:
        for pair, count in recipe.take.items():
            if count > whole[pair]:
                raise InputError(
                    f"{count:,} examples of {pair} were requested, and after filtering there are {whole[pair]:,}, "
                    f"identities included: {funnel.losses(pair)}."
                )
        return {pair: recipe.take.get(pair, count) for pair, count in whole.items()}
    total = sum(whole.values())
    if total <= recipe.sample:
        return whole
    return {pair: recipe.sample * count // total for pair, count in whole.items()}


def _pick_for_pair(supply: _Supply, count: int, wanted: int, seed: str) -> _Selection:
    """Select edits, and as many identities as can be found or made."""
    edits = sample_items(supply.edits, count, seed=f"edits:{seed}")
    good = supply.identities(wanted, seed)
    busy = {one.id for one in (*edits, *good)}
    spare = [one for one in supply.clean if one.id not in busy]
    made = sample_items(spare, wanted - len(good), seed=f"made:{seed}")
    made += sample_items(edits, wanted - len(good) - len(made), seed=f"made again:{seed}")
    return _Selection(edits, good, made)


def choose_held_out_examples(
    paragraphs: Sequence[TrainingParagraph], take: Mapping[str, int], *, side: str, seed: int
) -> list[Example]:
    """Dev or test: all examples, or the requested number for each pair."""
    chosen = list(paragraphs)
    for pair, count in take.items():
        own = [one for one in chosen if one.pair == pair]
        if count > len(own):
            raise InputError(f"{count:,} examples of {pair} were requested on {side}, which has {len(own):,}.")
        kept = {one.id for one in sample_items(own, count, seed=f"{pair}:{side}:{seed}")}
        chosen = [one for one in chosen if one.pair != pair or one.id in kept]
    return [one.to_example() for one in chosen]
