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

from ape.edits import apply_edits
from ape.errors import InputError
from ape.gate import FEATURES, Evidence, Gate, weigh_edits, without_loops
from ape.segment import Draft
from finetune.example import Example

FOLDS = 5
# The threshold is chosen on chances that are the mean of so many ways to fold: with one it is a matter of luck.
FOLDINGS = 8
THRESHOLDS = tuple(round(0.30 + 0.02 * step, 2) for step in range(34))
# An edit that neither wins nor loses a word still is a risk for nothing.
_IDLE = 0.25
# A run-away of thirty words is one mistake, and says no more than one of three.
_MOST = 3.0
_RIDGE = 60.0
_FEWEST = 50
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drafted:
    """An example and what the model made of it."""

    example: Example
    draft: Draft


@dataclass(frozen=True, slots=True)
class Fitted:
    """A gate, and what gates made in the same way did to passages that they were not made of.

    Words of distance won there by language pair, of how many words of human text; edits let through, of how many found.
    `loops` is what saying the loops of the MT once would win by itself, by pair, where there are any.
    """

    gate: Gate
    won: dict[str, float]
    words: dict[str, int]
    kept: int
    edits: int
    loops: dict[str, float]


@dataclass(frozen=True, slots=True)
class _Edit:
    """An edit of a draft, and the words that are won by it alone."""

    of: Drafted
    evidence: Evidence
    worth: float


def distance(text: str, human: str) -> float:
    """Words to put in, take out or replace to get from one to the other; a wrong capital counts half."""
    strict = Levenshtein.distance(text.split(), human.split())
    loose = Levenshtein.distance(text.lower().split(), human.lower().split())
    return (strict + loose) / 2


def fit(drafts: Sequence[Drafted], *, seed: int = 1) -> Fitted:
    """The gate for the model that made the drafts."""
    edits = [edit for one in drafts for edit in _edits(one)]
    weighed = sum(not edit.evidence.unloops for edit in edits)
    if weighed < _FEWEST:
        raise InputError(
            f"The drafts have {weighed} edits to weigh, and a gate needs at least {_FEWEST} to learn from. "
            "Give more examples."
        )
    won = {one.example.pair: 0.0 for one in drafts}
    words = dict.fromkeys(won, 0)
    for one in drafts:
        words[one.example.pair] += len(one.example.human.split())
    kept = 0
    for rest, held in _folds(edits, seed):
        gate = _gate(rest, seed)
        let = [edit for edit in held if gate.lets(edit.evidence)]
        kept += len(let)
        for one, mine in _by_draft(let):
            won[one.example.pair] += _gained(one, [edit.evidence for edit in mine])
    loops = _loops_won(drafts)
    pays = sum(loops.values()) > 0 <= min(loops.values())
    gate = _gate(edits, seed).model_copy(update={"cuts_loops": pays})
    return Fitted(gate, won, words, kept, len(edits), loops)


def _loops_won(drafts: Sequence[Drafted]) -> dict[str, float]:
    won: dict[str, float] = {}
    for one in drafts:
        mt, human = one.example.mt.strip(), one.example.human
        once = without_loops(mt, one.example.segment)
        if once != mt:
            won[one.example.pair] = (
                won.get(one.example.pair, 0.0) + distance(mt, human) - distance(once, human)
            )
    return won


def _edits(one: Drafted) -> Iterator[_Edit]:
    for evidence in weigh_edits(one.example.segment, one.draft.text, one.draft.chances):
        if evidence.unloops or (evidence.values and not evidence.barred):
            yield _Edit(one, evidence, _gained(one, [evidence]))


def _folds(edits: Sequence[_Edit], seed: int) -> Iterator[tuple[list[_Edit], list[_Edit]]]:
    """Each fold in its turn: the edits that are not in it, and those that are.

    A book is in one fold whole, for its names and habits would be known from its other passages. Where a language pair
    has but one, its passages stand for books: a corpus of sentences has no more than its file's name.
    """
    books: dict[str, set[str]] = defaultdict(set)
    for edit in edits:
        books[edit.of.example.pair].add(edit.of.example.book)
    parts: dict[tuple[str, ...], list[_Edit]] = defaultdict(list)
    for edit in edits:
        one = edit.of.example
        parts[(one.book,) if len(books[one.pair]) > 1 else (one.book, one.id)].append(edit)
    folds: list[list[_Edit]] = [[] for _ in range(FOLDS)]
    names = sorted(parts)
    Random(seed).shuffle(names)
    for name in sorted(names, key=lambda name: -len(parts[name])):
        min(folds, key=len).extend(parts[name])
    for held in folds:
        rest = [edit for fold in folds if fold is not held for edit in fold]
        if rest and held:
            yield rest, held


def _gate(edits: Sequence[_Edit], seed: int) -> Gate:
    """Weights from all of the edits, and the threshold that is best for weights from a part of them on the others.

    Edits that the gate lets through in any case teach it nothing, and what they win is no reason for a low threshold.
    """
    edits = [edit for edit in edits if not edit.evidence.unloops]
    if not edits:
        return Gate(features={}, bias=0.0, threshold=1.0)
    chances: dict[int, float] = defaultdict(float)
    for turn in range(FOLDINGS):
        for rest, held in _folds(edits, seed + turn):
            weights = _fit(rest, 1.0)
            for edit in held:
                chances[id(edit)] += weights.chance(edit.evidence) / FOLDINGS
    return _fit(edits, _best_threshold([(edit, chances[id(edit)]) for edit in edits]))


def _fit(edits: Sequence[_Edit], threshold: float) -> Gate:
    """Weights by Newton's method, with a little pull towards none; features are put on one scale first."""
    values: Matrix = np.array([edit.evidence.values for edit in edits])
    worth: Matrix = np.array([edit.worth for edit in edits], dtype=float)
    mean, scale = values.mean(axis=0), values.std(axis=0)
    scale[scale < 1e-6] = 1.0
    inputs = np.column_stack([np.ones(len(values)), (values - mean) / scale])
    helps = (worth > 0).astype(float)
    weight = np.where(worth == 0, _IDLE, np.minimum(np.abs(worth), _MOST)) * _shares(edits)
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
        name: (float(mean[at]), float(scale[at]), float(beta[at + 1])) for at, name in enumerate(FEATURES)
    }
    return Gate(features=features, bias=float(beta[0]), threshold=threshold)


def _shares(edits: Sequence[_Edit]) -> Matrix:
    """What each edit counts: fifty of one passage are one observation rather than fifty."""
    of = Counter(id(edit.of) for edit in edits)
    return np.array([min(1.0, _MOST / of[id(edit.of)]) for edit in edits])


def _best_threshold(chances: Sequence[tuple[_Edit, float]]) -> float:
    """Where most is won for sure; 1, and so no edit at all, where nothing is.

    For sure: the words won less their standard error, and no language pair loses. The very best of many thresholds
    would be the luckiest one.
    """
    best, best_threshold = 0.0, 1.0
    for threshold in THRESHOLDS:
        won: dict[str, float] = defaultdict(float)
        squares = 0.0
        for one, mine in _by_draft([edit for edit, chance in chances if chance > threshold]):
            gained = _gained(one, [edit.evidence for edit in mine])
            won[one.example.pair] += gained
            squares += gained**2
        surely = sum(won.values()) - math.sqrt(squares)
        if min(won.values(), default=0.0) >= 0 and surely > best:
            best, best_threshold = surely, threshold
    return best_threshold


def _by_draft(edits: Sequence[_Edit]) -> Iterator[tuple[Drafted, list[_Edit]]]:
    found: dict[int, list[_Edit]] = defaultdict(list)
    for edit in edits:
        found[id(edit.of)].append(edit)
    return ((mine[0].of, mine) for mine in found.values())


def _gained(one: Drafted, kept: Sequence[Evidence]) -> float:
    """Words nearer to the human text by these edits together."""
    mt, human = one.example.mt.strip(), one.example.human
    return distance(mt, human) - distance(apply_edits(mt, [evidence.edit for evidence in kept]), human)
