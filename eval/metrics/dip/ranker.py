"""A linear scorer trained on pairs, so that the better text of each pair scores higher.

Logistic regression on differences of features, without an intercept, by Newton's method: small, on the CPU, and
deterministic. It is saved as readable JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from ape.errors import InputError
from ape.files.atomic import write_text_atomic
from ape.files.hashing import hash_text
from ape.files.rows import describe_validation_error
from eval.statistics.counts import FloatArray

_STEPS = 50
_ENOUGH = 1e-10
RankerFact = str | int | float | None


class _File(BaseModel):
    """The JSON form of a scorer."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    version: Literal[1] = 1
    kind: str
    features: tuple[str, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    facts: dict[str, RankerFact]


@dataclass(frozen=True, slots=True)
class Ranker:
    """Weights by feature name, with metadata of the training: pairs, seed, held-out accuracy."""

    kind: str
    features: tuple[str, ...]
    scales: FloatArray
    weights: FloatArray
    facts: Mapping[str, RankerFact] = field(default_factory=dict)

    def score(self, values: FloatArray) -> FloatArray:
        """Scores of feature arrays (…, features). Only differences of scores are meaningful."""
        scored: FloatArray = (values / self.scales) @ self.weights
        return scored

    @property
    def fingerprint(self) -> str:
        """Eight hex digits that identify the scorer in signatures."""
        return hash_text(self._text(), length=8)

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_text_atomic(path, self._text(), errors="strict")

    def _text(self) -> str:
        stored = _File(
            kind=self.kind,
            features=self.features,
            scales=tuple(self.scales.tolist()),
            weights=tuple(self.weights.tolist()),
            facts=dict(self.facts),
        )
        return json.dumps(stored.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def load_ranker(path: Path, *, kind: str, features: Sequence[str]) -> Ranker:
    """Load a scorer; refuse another kind, or one trained on other features."""
    try:
        stored = _File.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The scorer {path} can't be read: {error}.") from error
    except ValidationError as error:
        message = describe_validation_error(error, root="the file")
        raise InputError(f"{path} is not a coherence scorer: {message}.") from error
    if stored.kind != kind or stored.features != tuple(features):
        raise InputError(
            f"{path} is a scorer of {stored.kind} with {len(stored.features)} features; this version needs one of "
            f"{kind} with {len(features)}. Train it again."
        )
    if not len(stored.features) == len(stored.scales) == len(stored.weights):
        raise InputError(f"{path} is not a coherence scorer: it needs one weight for each feature.")
    return Ranker(stored.kind, stored.features, np.array(stored.scales), np.array(stored.weights), stored.facts)


def fit_ranker(
    better: FloatArray, worse: FloatArray, *, kind: str, features: Sequence[str], penalty: float = 1.0
) -> Ranker:
    """Fit weights that rank the better text of each pair (pairs, features) above the worse."""
    if better.shape != worse.shape or better.shape[1:] != (len(features),) or not len(better):
        raise InputError("A scorer needs at least one pair of texts to train on.")
    differences = better - worse
    scales = np.sqrt((differences**2).mean(axis=0))
    scales[scales == 0] = 1.0
    return Ranker(kind, tuple(features), scales, _newton(differences / scales, penalty))


def ranker_accuracy(ranker: Ranker, better: FloatArray, worse: FloatArray) -> float:
    """The share of pairs in the right order; equal scores count half."""
    margins = ranker.score(better) - ranker.score(worse)
    return float(((margins > 0) + 0.5 * (margins == 0)).mean())


@dataclass(frozen=True, slots=True)
class RankedPairs:
    """Texts in pairs with their groups; a split never divides a group."""

    better: FloatArray
    worse: FloatArray
    groups: tuple[str, ...]

    def select_groups(self, groups: frozenset[str]) -> RankedPairs:
        """The pairs of some groups."""
        chosen = [place for place, group in enumerate(self.groups) if group in groups]
        return RankedPairs(self.better[chosen], self.worse[chosen], tuple(self.groups[place] for place in chosen))


def train_ranker(
    pairs: RankedPairs, *, kind: str, features: Sequence[str], seed: int, folds: int = 5, **facts: RankerFact
) -> Ranker:
    """Train a scorer on all pairs, with its cross-validated accuracy over groups in the metadata."""
    fitted = fit_ranker(pairs.better, pairs.worse, kind=kind, features=features)
    known = sorted(set(pairs.groups))
    order = np.random.default_rng(seed).permutation(len(known))
    right = 0.0
    parts = [part for part in np.array_split(order, min(folds, len(known))) if len(part)]
    for part in parts if len(known) > 1 else ():
        out = frozenset(known[place] for place in part)
        rest, held_out = pairs.select_groups(frozenset(known) - out), pairs.select_groups(out)
        other = fit_ranker(rest.better, rest.worse, kind=kind, features=features)
        right += ranker_accuracy(other, held_out.better, held_out.worse) * len(held_out.groups)
    metadata = {
        **facts,
        "seed": seed,
        "pairs": len(pairs.groups),
        "documents": len(known),
        "held_out_accuracy": right / len(pairs.groups) if len(known) > 1 else None,
    }
    return Ranker(fitted.kind, fitted.features, fitted.scales, fitted.weights, metadata)


def _newton(differences: FloatArray, penalty: float) -> FloatArray:
    """Minimise the sum of log(1 + exp(−margin)) with an L2 penalty."""
    weights: FloatArray = np.zeros(differences.shape[1])
    for _ in range(_STEPS):
        wrong_order = 1 / (1 + np.exp(np.clip(differences @ weights, -30, 30)))  # probability
        gradient = penalty * weights - differences.T @ wrong_order
        hessian = (differences.T * (wrong_order * (1 - wrong_order))) @ differences + penalty * np.eye(len(weights))
        step = np.linalg.solve(hessian, gradient)
        weights = weights - step
        if float(step @ step) < _ENOUGH:
            break
    return weights
