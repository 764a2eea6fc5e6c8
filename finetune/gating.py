"""Fitting the gate: which of a tuned model's edits help, learned from its drafts of passages it was not trained on.

An edit helps if the MT with that edit alone is nearer to the human text, by words. A logistic model learns that from
the features of ape/gate, each edit counting as much as it wins or loses. The threshold is then set where the drafts
gain most as a whole and no language pair loses, on folds that the weights in use were not fitted on.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from ape.edits import apply_edits
from ape.errors import InputError
from ape.gate import FEATURES, Evidence, Gate, weigh_edits
from ape.segment import Draft, Segment
from finetune.example import Example

FOLDS = 5
THRESHOLDS = tuple(round(0.30 + 0.02 * step, 2) for step in range(34))
# An edit that neither wins nor loses a word still is a risk for nothing.
_IDLE = 0.25
# A run-away of thirty words is one mistake, and says no more than one of three.
_MOST = 3.0
_RIDGE = 5.0
_FEWEST = 50
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drafted:
    """An example and what the model made of it."""

    example: Example
    draft: Draft

    @property
    def segment(self) -> Segment:
        """As it was asked."""
        one = self.example
        return Segment(one.source, one.mt, one.source_language, one.target_language)

    @property
    def pair(self) -> str:
        """Its languages."""
        return f"{self.example.source_language}-{self.example.target_language}"


@dataclass(frozen=True, slots=True)
class Fitted:
    """A gate and what it did in cross-validation: words of distance won by language pair, and edits kept and found."""

    gate: Gate
    won: dict[str, float]
    words: dict[str, int]
    kept: int
    edits: int


def distance(text: str, human: str) -> float:
    """Words to put in, take out or replace to get from one to the other; a wrong capital counts half."""
    strict = Levenshtein.distance(text.split(), human.split())
    loose = Levenshtein.distance(text.lower().split(), human.lower().split())
    return (strict + loose) / 2


def fit(drafts: Sequence[Drafted], *, seed: int = 1) -> Fitted:
    """The gate for the model that made the drafts."""
    found = [weigh_edits(one.segment, one.draft.text, one.draft.chances) for one in drafts]
    rows = [(at, evidence) for at, edits in enumerate(found) for evidence in edits if evidence.values]
    if len(rows) < _FEWEST:
        raise InputError(
            f"The drafts have {len(rows)} edits, and a gate needs at least {_FEWEST} to learn from. Give more examples."
        )
    values = np.array([evidence.values for _, evidence in rows])
    worth = np.array([_gained(drafts[at], [evidence]) for at, evidence in rows], dtype=float)
    fold = _folds(len(drafts), seed)
    of_row = np.array([fold[at] for at, _ in rows])
    chances = np.empty(len(rows))
    for held in range(FOLDS):
        mine = of_row == held
        if mine.any():
            gate = _fit(values[~mine], worth[~mine], 0.5)
            chances[mine] = [gate.chance(rows[at][1]) for at in np.flatnonzero(mine)]
    threshold, won = _best_threshold(drafts, rows, chances)
    gate = _fit(values, worth, threshold)
    words: dict[str, int] = defaultdict(int)
    for one in drafts:
        words[one.pair] += len(one.example.human.split())
    return Fitted(gate, won, dict(words), int((chances > threshold).sum()), len(rows))


def _folds(count: int, seed: int) -> list[int]:
    places = [at % FOLDS for at in range(count)]
    Random(seed).shuffle(places)
    return places


def _fit(values: Matrix, worth: Matrix, threshold: float) -> Gate:
    """Weights by Newton's method, with a little pull towards none; features are put on one scale first."""
    mean, scale = values.mean(axis=0), values.std(axis=0)
    scale[scale < 1e-6] = 1.0
    inputs = np.column_stack([np.ones(len(values)), (values - mean) / scale])
    helps = (worth > 0).astype(float)
    weight = np.where(worth == 0, _IDLE, np.minimum(np.abs(worth), _MOST))
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


def _best_threshold(
    drafts: Sequence[Drafted], rows: Sequence[tuple[int, Evidence]], chances: Matrix
) -> tuple[float, dict[str, float]]:
    """Where most is won for sure; 1, and so no edit at all, where nothing is.

    For sure: the words won less their standard error, and no language pair loses. The very best of many thresholds
    would be the luckiest one.
    """
    by_draft: dict[int, list[tuple[float, Evidence]]] = defaultdict(list)
    for (at, evidence), chance in zip(rows, chances, strict=True):
        by_draft[at].append((float(chance), evidence))
    best, best_threshold = 0.0, 1.0
    won_at_best = {one.pair: 0.0 for one in drafts}
    for threshold in THRESHOLDS:
        won = {one.pair: 0.0 for one in drafts}
        squares = 0.0
        for at, edits in by_draft.items():
            gained = _gained(drafts[at], [evidence for chance, evidence in edits if chance > threshold])
            won[drafts[at].pair] += gained
            squares += gained**2
        surely = sum(won.values()) - math.sqrt(squares)
        if min(won.values()) >= 0 and surely > best:
            best, best_threshold, won_at_best = surely, threshold, won
    return best_threshold, won_at_best


def _gained(one: Drafted, kept: Sequence[Evidence]) -> float:
    """Words nearer to the human text by these edits together."""
    mt, human = one.example.mt.strip(), one.example.human
    return distance(mt, human) - distance(apply_edits(mt, [evidence.edit for evidence in kept]), human)
