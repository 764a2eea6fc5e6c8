"""Fitting the gate: which of a tuned model's edits help, learned from its drafts of passages it was not trained on.

An edit helps if the MT with that edit alone is nearer to the human text, by words. A logistic model learns that from
the features of ape/gate, each edit counting as much as it wins or loses. The threshold is then set where the drafts
gain most as a whole and no language pair loses, on folds that the weights in use were not fitted on. What it wins is
told from folds that had a say in neither: each is sifted by a gate that was made, threshold and all, of the others.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from ape.edits.diff import apply_edits
from ape.edits.filter import EditFilter, collapse_passage_loops
from ape.edits.filter_features import FILTER_FEATURES, EditEvidence, collect_edit_evidence
from ape.errors import InputError
from ape.passage.segment import Draft
from finetune.data.example import Example

FOLDS = 5
# The threshold is chosen on chances that are the mean of so many ways to fold: with one it is a matter of luck.
FOLD_REPEATS = 8
THRESHOLDS = tuple(round(0.30 + 0.02 * step, 2) for step in range(34))
# An edit that neither wins nor loses a word still is a risk for nothing.
_NEUTRAL_EDIT_WEIGHT = 0.25
# A run-away of thirty words is one mistake, and says no more than one of three.
_MAX_WEIGHT = 3.0
_RIDGE = 60.0
_MIN_EDITS = 50
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DraftedExample:
    """An example and what the model made of it."""

    example: Example
    draft: Draft


@dataclass(frozen=True, slots=True)
class FittedEditFilter:
    """A gate, and what gates made in the same way did to passages that they were not made of.

    Words of distance won there by language pair, of how many words of human text; edits let through, of how many found.
    `loops` is what saying the loops of the MT once would win by itself, by pair, where there are any.
    """

    gate: EditFilter
    won: dict[str, float]
    words: dict[str, int]
    kept: int
    edits: int
    loops: dict[str, float]


@dataclass(frozen=True, slots=True)
class _WeighedEdit:
    """An edit of a draft, and the words that are won by it alone."""

    of: DraftedExample
    evidence: EditEvidence
    worth: float


def word_edit_distance(text: str, human: str) -> float:
    """Words to put in, take out or replace to get from one to the other; a wrong capital counts half."""
    strict = Levenshtein.distance(text.split(), human.split())
    loose = Levenshtein.distance(text.lower().split(), human.lower().split())
    return (strict + loose) / 2


def fit_edit_filter(drafts: Sequence[DraftedExample], *, seed: int = 1) -> FittedEditFilter:
    """The gate for the model that made the drafts."""
    edits = [edit for one in drafts for edit in _edits(one)]
    weighed = sum(not edit.evidence.cuts_loop for edit in edits)
    if weighed < _MIN_EDITS:
        raise InputError(
            f"The drafts have {weighed} edits to weigh, and a gate needs at least {_MIN_EDITS} to learn from. "
            "Give more examples."
        )
    won = {one.example.pair: 0.0 for one in drafts}
    words = dict.fromkeys(won, 0)
    for one in drafts:
        words[one.example.pair] += len(one.example.human.split())
    kept = 0
    for rest, held in _folds(edits, seed):
        gate = _fit_filter(rest, seed)
        let = [edit for edit in held if gate.accepts(edit.evidence)]
        kept += len(let)
        for one, mine in _by_draft(let):
            won[one.example.pair] += _gain(one, [edit.evidence for edit in mine])
    loops = _gain_from_loops(drafts)
    pays = sum(loops.values()) > 0 <= min(loops.values())
    gate = _fit_filter(edits, seed).model_copy(update={"cuts_loops": pays})
    return FittedEditFilter(gate, won, words, kept, len(edits), loops)


def _gain_from_loops(drafts: Sequence[DraftedExample]) -> dict[str, float]:
    won: dict[str, float] = {}
    for one in drafts:
        mt, human = one.example.mt.strip(), one.example.human
        once = collapse_passage_loops(mt, one.example.segment)
        if once != mt:
            won[one.example.pair] = (
                won.get(one.example.pair, 0.0)
                + word_edit_distance(mt, human)
                - word_edit_distance(once, human)
            )
    return won


def _edits(one: DraftedExample) -> Iterator[_WeighedEdit]:
    for evidence in collect_edit_evidence(one.example.segment, one.draft.text, one.draft.logprobs):
        if evidence.cuts_loop or (evidence.values and not evidence.blocked):
            yield _WeighedEdit(one, evidence, _gain(one, [evidence]))


def _folds(
    edits: Sequence[_WeighedEdit], seed: int
) -> Iterator[tuple[list[_WeighedEdit], list[_WeighedEdit]]]:
    """Each fold in its turn: the edits that are not in it, and those that are.

    A book is in one fold whole, for its names and habits would be known from its other passages. Where a language pair
    has but one, its passages stand for books: a corpus of sentences has no more than its file's name.
    """
    books: dict[str, set[str]] = defaultdict(set)
    for edit in edits:
        books[edit.of.example.pair].add(edit.of.example.book)
    parts: dict[tuple[str, ...], list[_WeighedEdit]] = defaultdict(list)
    for edit in edits:
        one = edit.of.example
        parts[(one.book,) if len(books[one.pair]) > 1 else (one.book, one.id)].append(edit)
    folds: list[list[_WeighedEdit]] = [[] for _ in range(FOLDS)]
    names = sorted(parts)
    Random(seed).shuffle(names)
    for name in sorted(names, key=lambda name: -len(parts[name])):
        min(folds, key=len).extend(parts[name])
    for held in folds:
        rest = [edit for fold in folds if fold is not held for edit in fold]
        if rest and held:
            yield rest, held


def _fit_filter(edits: Sequence[_WeighedEdit], seed: int) -> EditFilter:
    """Weights from all of the edits, and the threshold that is best for weights from a part of them on the others.

    Edits that the gate lets through in any case teach it nothing, and what they win is no reason for a low threshold.
    """
    edits = [edit for edit in edits if not edit.evidence.cuts_loop]
    if not edits:
        return EditFilter(features={}, bias=0.0, threshold=1.0)
    chances: dict[int, float] = defaultdict(float)
    for turn in range(FOLD_REPEATS):
        for rest, held in _folds(edits, seed + turn):
            weights = _fit_weights(rest, 1.0)
            for edit in held:
                chances[id(edit)] += weights.probability(edit.evidence) / FOLD_REPEATS
    return _fit_weights(edits, _best_threshold([(edit, chances[id(edit)]) for edit in edits]))


def _fit_weights(edits: Sequence[_WeighedEdit], threshold: float) -> EditFilter:
    """Weights by Newton's method, with a little pull towards none; features are put on one scale first."""
    values: Matrix = np.array([edit.evidence.values for edit in edits])
    worth: Matrix = np.array([edit.worth for edit in edits], dtype=float)
    mean, scale = values.mean(axis=0), values.std(axis=0)
    scale[scale < 1e-6] = 1.0
    inputs = np.column_stack([np.ones(len(values)), (values - mean) / scale])
    helps = (worth > 0).astype(float)
    weight = np.where(worth == 0, _NEUTRAL_EDIT_WEIGHT, np.minimum(np.abs(worth), _MAX_WEIGHT)) * _shares(
        edits
    )
    pull = np.diag([0.0] + [_RIDGE] * values.shape[1])
    beta = np.zeros(inputs.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ beta, -30, 30)))
        slope = inputs.T @ (weight * (helps - chance)) - pull @ beta
        bend = (
            (inputs * (weight * chance * (1 - chance))[:, None]).T @ inputs + pull + 1e-9 * np.eye(len(beta))
        )
        step = np.linalg.solve(bend, slope)
        beta += step
        if np.abs(step).max() < 1e-8:
            break
    features = {
        name: (float(mean[at]), float(scale[at]), float(beta[at + 1]))
        for at, name in enumerate(FILTER_FEATURES)
    }
    return EditFilter(features=features, bias=float(beta[0]), threshold=threshold)


def _shares(edits: Sequence[_WeighedEdit]) -> Matrix:
    """What each edit counts: fifty of one passage are one observation rather than fifty."""
    of = Counter(id(edit.of) for edit in edits)
    return np.array([min(1.0, _MAX_WEIGHT / of[id(edit.of)]) for edit in edits])


def _best_threshold(chances: Sequence[tuple[_WeighedEdit, float]]) -> float:
    """Where most is won for sure; 1, and so no edit at all, where nothing is.

    For sure: the words won less their standard error, and no language pair loses. The very best of many thresholds
    would be the luckiest one.
    """
    best, best_threshold = 0.0, 1.0
    for threshold in THRESHOLDS:
        won: dict[str, float] = defaultdict(float)
        squares = 0.0
        for one, mine in _by_draft([edit for edit, chance in chances if chance > threshold]):
            gained = _gain(one, [edit.evidence for edit in mine])
            won[one.example.pair] += gained
            squares += gained**2
        surely = sum(won.values()) - math.sqrt(squares)
        if min(won.values(), default=0.0) >= 0 and surely > best:
            best, best_threshold = surely, threshold
    return best_threshold


def _by_draft(edits: Sequence[_WeighedEdit]) -> Iterator[tuple[DraftedExample, list[_WeighedEdit]]]:
    found: dict[int, list[_WeighedEdit]] = defaultdict(list)
    for edit in edits:
        found[id(edit.of)].append(edit)
    return ((mine[0].of, mine) for mine in found.values())


def _gain(one: DraftedExample, kept: Sequence[EditEvidence]) -> float:
    """Words nearer to the human text by these edits together."""
    mt, human = one.example.mt.strip(), one.example.human
    return word_edit_distance(mt, human) - word_edit_distance(
        apply_edits(mt, [evidence.edit for evidence in kept]), human
    )
