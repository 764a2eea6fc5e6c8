"""Fit the filter of uncertain edits on drafts of passages that the model was not trained on.

An edit helps if the MT with that edit alone is closer to the human text, in words; edits that pass or fail together are
judged together. A logistic model learns this from the features of ape/edits/filter_features.py; each edit is weighted
by the words it gains or loses. The threshold is the
one with the largest gain over all drafts at which no language pair loses, on folds that the weights were not fitted on.
The reported gain is from nested folds: each fold is filtered by weights and threshold fitted on the other folds.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from ape.edits.diff import apply_edits
from ape.edits.filter import EditFilter, collapse_passage_loops, group_edits
from ape.edits.filter_features import FILTER_FEATURES, EditEvidence, collect_edit_evidence
from ape.errors import InputError
from ape.passage.edit import EditKind
from ape.passage.segment import Draft
from finetune.data.example import Example

FOLDS = 5
# Predictions for choosing the threshold are averaged over this many divisions into folds; with one, it depends on luck.
FOLD_REPEATS = 8
THRESHOLDS = tuple(round(0.30 + 0.02 * step, 2) for step in range(34))
# An edit that neither gains nor loses a word is still an unnecessary risk.
_NEUTRAL_EDIT_WEIGHT = 0.25
# A repetition of thirty words is one mistake, and no stronger evidence than one of three.
_MAX_WEIGHT = 3.0
_RIDGE = 60.0
_PRIOR_RIDGE = 30.0
# Of the edits of a kind that help or harm, the share that has to help; below it the kind is refused.
_MIN_PRECISION = 0.6
_MIN_EDITS = 50
NO_PRIOR = EditFilter(features={}, bias=0.0, threshold=0.5)
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DraftedExample:
    """An example and the draft of the model."""

    example: Example
    draft: Draft


@dataclass(frozen=True, slots=True)
class KindPrecision:
    """How many edits of a kind bring the MT closer to the human text, of all edits and of those that pass."""

    edits: int
    helped: int
    harmed: int
    passed: int
    passed_helped: int
    passed_harmed: int


@dataclass(frozen=True, slots=True)
class FittedEditFilter:
    """An edit filter, and how filters fitted in the same way did on held-out passages.

    `words_gained` is the reduction in word edit distance by language pair, out of `words` of human text. `loops_gained`
    is what collapsing repetition loops of the MT gains alone, for pairs that have any. `kinds` is about single edits.
    """

    edit_filter: EditFilter
    words_gained: dict[str, float]
    words: dict[str, int]
    edits_kept: int
    edits: int
    loops_gained: dict[str, float]
    kinds: dict[str, KindPrecision]


@dataclass(frozen=True, slots=True)
class _WeighedEdit:
    """Edits of a draft that pass or fail together, and the words that they gain."""

    drafted: DraftedExample
    group: tuple[EditEvidence, ...]
    gain: float

    @property
    def cuts_loop(self) -> bool:
        return all(evidence.cuts_loop for evidence in self.group)

    def passes(self, edit_filter: EditFilter) -> bool:
        return all(map(edit_filter.accepts, self.group))

    def probability(self, edit_filter: EditFilter) -> float:
        """The probability of the least likely edit, as the filter requires all to pass."""
        return min(1.0 if one.cuts_loop else edit_filter.probability(one) for one in self.group)


def word_edit_distance(text: str, human: str) -> float:
    """Levenshtein distance in words; a difference in case counts half."""
    strict = Levenshtein.distance(text.split(), human.split())
    loose = Levenshtein.distance(text.lower().split(), human.lower().split())
    return (strict + loose) / 2


def fit_edit_filter(
    drafts: Sequence[DraftedExample], *, seed: int = 1, joins_neighbours: bool = False, prior: EditFilter = NO_PRIOR
) -> FittedEditFilter:
    """Fit a filter for the model that made the drafts.

    Weights are drawn towards those of `prior`, and its threshold is kept unless a language pair loses with it: where
    edits are few, an earlier filter of the model is the better guess. Kinds of edits of which too few help are
    refused then.
    """
    edits = [edit for one in drafts for edit in _edits(one, joins_neighbours=joins_neighbours)]
    weighted = sum(not edit.cuts_loop for edit in edits)
    if weighted < _MIN_EDITS:
        raise InputError(
            f"The drafts have {weighted} edits, and fitting a filter needs at least {_MIN_EDITS}. Give more examples."
        )
    if prior.features:
        prior = prior.model_copy(update={"refused_kinds": _harmful_kinds(edits)})
    gained = {one.example.pair: 0.0 for one in drafts}
    words = dict.fromkeys(gained, 0)
    for one in drafts:
        words[one.example.pair] += len(one.example.human.split())
    kept: list[_WeighedEdit] = []
    for rest, held_out in _folds(edits, seed):
        fold_filter = _fit_filter(rest, seed, prior)
        passed = [edit for edit in held_out if edit.passes(fold_filter)]
        kept += passed
        for one, own in _by_draft(passed):
            gained[one.example.pair] += _gain(one, _evidence(own))
    loops = _gain_from_loops(drafts)
    cuts_loops = sum(loops.values()) > 0 <= min(loops.values()) if loops else prior.cuts_loops
    restored = _gain_from_restored_names(edits)
    restores_names = sum(restored.values()) > 0 <= min(restored.values()) if restored else prior.restores_names
    fixed = {"cuts_loops": cuts_loops, "joins_neighbours": joins_neighbours, "restores_names": restores_names}
    edit_filter = _fit_filter(edits, seed, prior).model_copy(update=fixed)
    return FittedEditFilter(edit_filter, gained, words, len(kept), len(edits), loops, _by_kind(edits, kept))


def _harmful_kinds(edits: Sequence[_WeighedEdit]) -> tuple[EditKind, ...]:
    """The kinds of which too few edits help, of those that change the distance at all."""
    helped: Counter[EditKind] = Counter(edit.group[0].edit.kind for edit in edits if edit.gain > 0)
    decided: Counter[EditKind] = Counter(edit.group[0].edit.kind for edit in edits if edit.gain != 0)
    return tuple(kind for kind in EditKind if helped[kind] < _MIN_PRECISION * decided[kind])


def _by_kind(edits: Sequence[_WeighedEdit], kept: Sequence[_WeighedEdit]) -> dict[str, KindPrecision]:
    """Counts by kind of edit, the most frequent first; edits that pass or fail together count for the first one."""
    kinds = Counter(edit.group[0].edit.kind.value for edit in edits)
    return {
        kind: KindPrecision(
            *_helped_and_harmed(edit for edit in edits if edit.group[0].edit.kind == kind),
            *_helped_and_harmed(edit for edit in kept if edit.group[0].edit.kind == kind),
        )
        for kind, _ in kinds.most_common()
    }


def _helped_and_harmed(edits: Iterable[_WeighedEdit]) -> tuple[int, int, int]:
    gains = [edit.gain for edit in edits]
    return len(gains), sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)


def _gain_from_loops(drafts: Sequence[DraftedExample]) -> dict[str, float]:
    gained: dict[str, float] = {}
    for one in drafts:
        mt, human, pair = one.example.mt.strip(), one.example.human, one.example.pair
        collapsed = collapse_passage_loops(mt, one.example.segment)
        if collapsed != mt:
            gain = word_edit_distance(mt, human) - word_edit_distance(collapsed, human)
            gained[pair] = gained.get(pair, 0.0) + gain
    return gained


def _gain_from_restored_names(edits: Iterable[_WeighedEdit]) -> dict[str, float]:
    gained: dict[str, float] = defaultdict(float)
    for edit in edits:
        if all(evidence.restores_name for evidence in edit.group):
            gained[edit.drafted.example.pair] += edit.gain
    return gained


def _edits(one: DraftedExample, *, joins_neighbours: bool = False) -> Iterator[_WeighedEdit]:
    found = collect_edit_evidence(one.example.segment, one.draft.text, one.draft.logprobs)
    for group in group_edits(found, one.example.mt.strip(), joins_neighbours=joins_neighbours):
        if all(evidence.cuts_loop or (evidence.values and not evidence.blocked) for evidence in group):
            yield _WeighedEdit(one, tuple(group), _gain(one, group))


def _evidence(edits: Iterable[_WeighedEdit]) -> list[EditEvidence]:
    return [evidence for edit in edits for evidence in edit.group]


def _folds(edits: Sequence[_WeighedEdit], seed: int) -> Iterator[tuple[list[_WeighedEdit], list[_WeighedEdit]]]:
    """For each fold, the edits outside it and those in it.

    A book is never divided between folds, since its names and style would be known from the other passages. Where a
    language pair has a single book, as a corpus of sentences has, its passages are divided instead.
    """
    books: dict[str, set[str]] = defaultdict(set)
    for edit in edits:
        books[edit.drafted.example.pair].add(edit.drafted.example.book)
    parts: dict[tuple[str, ...], list[_WeighedEdit]] = defaultdict(list)
    for edit in edits:
        one = edit.drafted.example
        parts[(one.book,) if len(books[one.pair]) > 1 else (one.book, one.id)].append(edit)
    folds: list[list[_WeighedEdit]] = [[] for _ in range(FOLDS)]
    names = sorted(parts)
    Random(seed).shuffle(names)
    for name in sorted(names, key=lambda name: -len(parts[name])):
        min(folds, key=len).extend(parts[name])
    for held_out in folds:
        rest = [edit for fold in folds if fold is not held_out for edit in fold]
        if rest and held_out:
            yield rest, held_out


def _fit_filter(edits: Sequence[_WeighedEdit], seed: int, prior: EditFilter) -> EditFilter:
    """Fit the weights on all edits, and choose the threshold by cross-validation.

    Edits that undo a loop always pass the filter, so they are left out of both.
    """
    edits = [edit for edit in edits if not edit.cuts_loop]
    if not edits:
        return EditFilter(features={}, bias=0.0, threshold=1.0)
    probabilities: dict[int, float] = defaultdict(float)
    for repeat in range(FOLD_REPEATS):
        for rest, held_out in _folds(edits, seed + repeat):
            weights = _fit_weights(rest, 1.0, prior)
            for edit in held_out:
                probabilities[id(edit)] += edit.probability(weights) / FOLD_REPEATS
    known = [(edit, probabilities[id(edit)]) for edit in edits]
    kept = prior.features and min(_gains(known, prior.threshold)[0].values(), default=0.0) >= 0
    return _fit_weights(edits, prior.threshold if kept else _best_threshold(known), prior)


def _fit_weights(edits: Sequence[_WeighedEdit], threshold: float, prior: EditFilter) -> EditFilter:
    """Ridge-regularised logistic regression on standardised features, by Newton's method."""
    rows = [(edit, evidence) for edit in edits for evidence in edit.group if not evidence.cuts_loop]
    values: Matrix = np.array([evidence.values for _, evidence in rows])
    gains: Matrix = np.array([edit.gain for edit, _ in rows], dtype=float)
    mean, scale = values.mean(axis=0), values.std(axis=0)
    scale[scale < 1e-6] = 1.0
    inputs = np.column_stack([np.ones(len(values)), (values - mean) / scale])
    helps = (gains > 0).astype(float)
    weight = np.where(gains == 0, _NEUTRAL_EDIT_WEIGHT, np.minimum(np.abs(gains), _MAX_WEIGHT))
    weight *= _passage_weights([edit for edit, _ in rows])
    # Without a prior nothing is known of the bias.
    bias_and_weights = (_PRIOR_RIDGE, _PRIOR_RIDGE) if prior.features else (0.0, _RIDGE)
    ridge = np.diag([bias_and_weights[0]] + [bias_and_weights[1]] * values.shape[1])
    start = _standardised(prior, mean, scale)
    beta = start.copy()
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ beta, -30, 30)))
        gradient = inputs.T @ (weight * (helps - chance)) - ridge @ (beta - start)
        curvature = (inputs * (weight * chance * (1 - chance))[:, None]).T @ inputs
        step = np.linalg.solve(curvature + ridge + 1e-9 * np.eye(len(beta)), gradient)
        beta += step
        if np.abs(step).max() < 1e-8:
            break
    features = {
        name: (float(mean[at]), float(scale[at]), float(beta[at + 1])) for at, name in enumerate(FILTER_FEATURES)
    }
    return EditFilter(features=features, bias=float(beta[0]), threshold=threshold, refused_kinds=prior.refused_kinds)


def _standardised(prior: EditFilter, mean: Matrix, scale: Matrix) -> Matrix:
    """The bias and weights of a filter, for features that are standardised in another way."""
    raw = [prior.features.get(name, (0.0, 1.0, 0.0)) for name in FILTER_FEATURES]
    slopes = np.array([weight / scale for _, scale, weight in raw])
    shift = prior.bias + sum(slope * (new - old) for slope, new, (old, _, _) in zip(slopes, mean, raw, strict=True))
    return np.array([shift, *(slopes * scale)])


def _passage_weights(edits: Sequence[_WeighedEdit]) -> Matrix:
    """Weight that limits the influence of a passage: its fifty edits are not fifty observations."""
    counts = Counter(id(edit.drafted) for edit in edits)
    return np.array([min(1.0, _MAX_WEIGHT / counts[id(edit.drafted)]) for edit in edits])


def _best_threshold(probabilities: Sequence[tuple[_WeighedEdit, float]]) -> float:
    """The threshold with the largest gain minus its standard error; 1, which passes no edit, if none is above 0.

    Thresholds at which a language pair loses are left out. Without the standard error, the best of many thresholds
    would be the luckiest one.
    """
    best, best_threshold = 0.0, 1.0
    for threshold in THRESHOLDS:
        gained, squares = _gains(probabilities, threshold)
        lower_bound = sum(gained.values()) - math.sqrt(squares)
        if min(gained.values(), default=0.0) >= 0 and lower_bound > best:
            best, best_threshold = lower_bound, threshold
    return best_threshold


def _gains(probabilities: Sequence[tuple[_WeighedEdit, float]], threshold: float) -> tuple[dict[str, float], float]:
    """The words gained by language pair with the edits above the threshold, and the sum of the squared gains."""
    gained: dict[str, float] = defaultdict(float)
    squares = 0.0
    for one, own in _by_draft([edit for edit, chance in probabilities if chance > threshold]):
        gain = _gain(one, _evidence(own))
        gained[one.example.pair] += gain
        squares += gain**2
    return gained, squares


def _by_draft(edits: Sequence[_WeighedEdit]) -> Iterator[tuple[DraftedExample, list[_WeighedEdit]]]:
    found: dict[int, list[_WeighedEdit]] = defaultdict(list)
    for edit in edits:
        found[id(edit.drafted)].append(edit)
    return ((own[0].drafted, own) for own in found.values())


def _gain(one: DraftedExample, edits: Sequence[EditEvidence]) -> float:
    """Words by which these edits together bring the MT closer to the human text."""
    mt, human = one.example.mt.strip(), one.example.human
    return word_edit_distance(mt, human) - word_edit_distance(
        apply_edits(mt, [evidence.edit for evidence in edits]), human
    )
