"""Bradley-Terry strengths: several systems on one scale, with bootstrap intervals.

The probability that one system beats another is the logistic function of the difference of their strengths (Bradley
and Terry 1952). Strengths are log odds and sum to zero. All fits of a bootstrap are solved together, by Newton steps
on a stack of matrices.

A system that never lost, or never won, has no finite strength (Ford 1957: wins must lead from every system to every
other). The fit is then regularised: each system gets half a win and half a loss against a virtual system of strength
zero, and the bootstrap is parametric, since resampled items never show a loss that was not observed. The result says
so. The interval of such a system is open on that side; on the other side it is at least as wide as Clopper and
Pearson's (1934) for the items on which the two systems met. Single resamples are treated alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.proportion import CONFIDENCE_LEVEL
from eval.statistics.row_bootstrap import BOOTSTRAP_SAMPLES, resample_row_sums

_TOLERANCE = 1e-9
# A step never separates two systems by more than this: then each step ascends (Bach 2010, self-concordant loss).
_MAX_STEP = 1.0
_MAX_STEPS = 200
StrengthEnds: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class SystemStrength:
    """A system's strength, with its interval and range of ranks."""

    system: str
    value: float
    low: float | None
    """None: no lower bound, as for a system that never won."""
    high: float | None
    """None: no upper bound, as for a system that never lost."""
    best: int
    """Best rank in 95% of the resamples; 1 is the strongest."""
    worst: int
    won: float
    """Wins, with half of the ties."""
    votes: int


@dataclass(frozen=True, slots=True)
class WinProbability:
    """Probability that the first system wins a vote against the second, from the fitted strengths."""

    first: str
    second: str
    chance: float
    low: float
    high: float

    @property
    def significant(self) -> bool:
        """Whether the interval excludes an even chance."""
        return self.low > 0.5 or self.high < 0.5


@dataclass(frozen=True, slots=True)
class BradleyTerry:
    """Strengths of all systems, strongest first."""

    strengths: tuple[SystemStrength, ...]
    pairs: tuple[WinProbability, ...]
    """All pairs, the stronger system first."""
    votes: int
    items: int
    samples: int
    regularised: bool
    """Some system never lost or never won, so all strengths are shrunk a little."""
    regularised_samples: int
    """Number of resamples that were regularised."""
    ties: str = "half a win each"


def bradley_terry_strengths(
    systems: Sequence[str],
    rows: FloatArray,
    *,
    votes: int,
    items: int,
    samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 1,
    level: float = CONFIDENCE_LEVEL,
) -> BradleyTerry | Unmeasured:
    """Fit strengths to a flattened win matrix for each cluster of votes (item or document)."""
    wins = rows.sum(axis=0).reshape(1, len(systems), len(systems))
    if reason := _disconnected(wins[0], systems):
        return Unmeasured(reason)
    reachable = _reachable(wins)
    regularised = not bool(reachable.all())
    value = fit_strengths(wins, prior=np.array([float(regularised)]))[0]
    resampled = (
        _simulate_wins(wins[0], value, samples=samples, seed=seed)
        if regularised
        else resample_row_sums(rows, samples=samples, seed=seed).reshape(samples, *wins.shape[1:])
    )
    # A system that is unbeaten in the votes has an open interval, whatever the simulated votes say.
    connected = _reachable(resampled)
    unfit = ~connected.all(axis=(1, 2))
    connected &= reachable
    strengths = fit_strengths(resampled, prior=np.maximum(unfit, regularised).astype(np.float64))
    order = [int(index) for index in np.argsort(-value, kind="stable")]
    differences = _difference_ends(strengths, connected, level)
    ends = _strength_ends(strengths, connected, level)
    ranks = _rank_ends(strengths, level)
    if regularised:
        differences = _widen_unbeaten(*differences, rows.reshape(-1, *wins.shape[1:]), level)
        # A strength is the mean of its differences to all systems.
        ends = (np.minimum(ends[0], differences[0].mean(axis=1)), np.maximum(ends[1], differences[1].mean(axis=1)))
        stronger = differences[0] > 0
        ranks = 1 + stronger.sum(axis=0), len(systems) - stronger.sum(axis=1)
    return BradleyTerry(
        _system_strengths(systems, order, value, ends, ranks, wins[0]),
        _win_probabilities(systems, order, value, *differences),
        votes,
        items,
        samples,
        regularised,
        int(unfit.sum()),
    )


def fit_strengths(wins: FloatArray, *, prior: FloatArray) -> FloatArray:
    """Maximum-likelihood strengths (fits, systems) of win matrices (fits, systems, systems); each fit sums to zero.

    `prior` is 1 for a fit with half a win and half a loss against a system of strength zero, else 0.
    """
    strengths = np.zeros(wins.shape[:2])
    games = wins + wins.swapaxes(1, 2)
    won = wins.sum(axis=2) + prior[:, None] / 2
    active = np.arange(len(wins))
    for _ in range(_MAX_STEPS):
        step = _newton_step(strengths[active], games[active], won[active], prior[active])
        strengths[active] += step
        active = active[np.ptp(step, axis=1) > _TOLERANCE]
        if not len(active):
            break
    centred: FloatArray = strengths - strengths.mean(axis=1, keepdims=True)
    return centred


def _newton_step(strengths: FloatArray, games: FloatArray, won: FloatArray, prior: FloatArray) -> FloatArray:
    systems = strengths.shape[1]
    chance = _logistic(strengths[:, :, None] - strengths[:, None, :])
    prior_chance = _logistic(strengths)
    gradient = won - (games * chance).sum(axis=2) - prior[:, None] * prior_chance
    weights = games * chance * (1 - chance)
    hessian = -weights
    diagonal = np.arange(systems)
    hessian[:, diagonal, diagonal] += weights.sum(axis=2) + prior[:, None] * prior_chance * (1 - prior_chance)
    # Without a prior only differences matter: this fixes the sum and leaves the differences unchanged.
    hessian += np.where(prior == 0, 1.0 / systems, 0.0)[:, None, None]
    step: FloatArray = np.linalg.solve(hessian, gradient[..., None])[..., 0]
    length = np.ptp(step, axis=1, keepdims=True) + np.abs(step.mean(axis=1, keepdims=True))
    step *= np.minimum(1.0, _MAX_STEP / np.maximum(length, _TOLERANCE))
    return step


def _logistic(values: FloatArray) -> FloatArray:
    chance: FloatArray = 0.5 * (1 + np.tanh(values / 2))
    return chance


def _simulate_wins(wins: FloatArray, strengths: FloatArray, *, samples: int, seed: int) -> FloatArray:
    """Draw as many votes from the fitted strengths, without ties."""
    games = np.rint(np.triu(wins + wins.T)).astype(int)
    chance = _logistic(strengths[:, None] - strengths[None, :])
    won = np.random.default_rng(seed).binomial(games, chance, size=(samples, *wins.shape))
    return (won + (games - won).swapaxes(1, 2)).astype(np.float64)


def _reachable(wins: FloatArray) -> NDArray[np.bool_]:
    """Whether a chain of wins leads from one system to another: (fits, from, to)."""
    systems = wins.shape[1]
    steps = ((wins > 0) | np.eye(systems, dtype=bool)).astype(np.float32)
    for _ in range((systems - 1).bit_length()):
        steps = (steps @ steps > 0).astype(np.float32)
    return steps > 0


def _disconnected(wins: FloatArray, systems: Sequence[str]) -> str:
    """Name the groups of systems that no vote connects; empty if there is one group."""
    connected = _reachable((wins + wins.T)[None])[0]
    groups = dict.fromkeys(tuple(name for name, near in zip(systems, row, strict=True) if near) for row in connected)
    if len(groups) == 1:
        return ""
    names = "; ".join(", ".join(group) for group in groups)
    return f"no vote compares these groups of systems, so they share no scale: {names}"


def _difference_ends(strengths: FloatArray, connected: NDArray[np.bool_], level: float) -> StrengthEnds:
    """Interval of the first strength minus the second, (systems, systems); open where no win leads back."""
    differences = strengths[:, :, None] - strengths[:, None, :]
    low = _quantile(np.where(connected, differences, -np.inf), (1 - level) / 2)
    high = _quantile(np.where(connected.swapaxes(1, 2), differences, np.inf), (1 + level) / 2)
    return low, high


def _strength_ends(strengths: FloatArray, connected: NDArray[np.bool_], level: float) -> StrengthEnds:
    """Interval of each strength; open below unless wins lead to all others, above unless they lead from all others."""
    low = _quantile(np.where(connected.all(axis=2), strengths, -np.inf), (1 - level) / 2)
    high = _quantile(np.where(connected.all(axis=1), strengths, np.inf), (1 + level) / 2)
    return low, high


def _quantile(values: FloatArray, share: float) -> FloatArray:
    """Quantile over the resamples; infinite values can't be interpolated."""
    method: Literal["linear", "lower", "higher"] = "linear"
    if np.isinf(values).any():
        method = "lower" if share < 0.5 else "higher"
    quantile: FloatArray = np.quantile(values, share, axis=0, method=method)
    return quantile


def _widen_unbeaten(low: FloatArray, high: FloatArray, rows: FloatArray, level: float) -> StrengthEnds:
    """Lower the bound of an unbeaten system to Clopper and Pearson's for its number of meetings."""
    meetings = (rows + rows.swapaxes(1, 2) > 0).sum(axis=0)
    chance = ((1 - level) / 2) ** (1 / np.maximum(meetings, 1))
    bound = np.where(meetings > 0, np.log(chance) - np.log1p(-chance), np.inf)
    unbeaten = np.isinf(high) & (high > 0)
    lower = np.where(unbeaten, np.minimum(low, bound), low)
    return lower, -lower.T


def _rank_ends(strengths: FloatArray, level: float) -> StrengthEnds:
    ranks = 1 + (strengths[:, None, :] > strengths[:, :, None]).sum(axis=2)
    best, worst = np.quantile(ranks, [(1 - level) / 2, (1 + level) / 2], axis=0, method="inverted_cdf")
    return best, worst


def _system_strengths(
    systems: Sequence[str],
    order: Sequence[int],
    value: FloatArray,
    ends: StrengthEnds,
    ranks: StrengthEnds,
    wins: FloatArray,
) -> tuple[SystemStrength, ...]:
    low, high = ([float(end) if np.isfinite(end) else None for end in side] for side in ends)
    (best, worst), won, votes = ranks, wins.sum(axis=1), (wins + wins.T).sum(axis=1)
    return tuple(
        SystemStrength(
            systems[at],
            float(value[at]),
            low[at],
            high[at],
            int(best[at]),
            int(worst[at]),
            float(won[at]),
            int(votes[at]),
        )
        for at in order
    )


def _win_probabilities(
    systems: Sequence[str], order: Sequence[int], value: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[WinProbability, ...]:
    pairs = []
    for first, second in combinations(order, 2):
        ends = np.array([value[first] - value[second], low[first, second], high[first, second]])
        pairs.append(WinProbability(systems[first], systems[second], *map(float, _logistic(ends))))
    return tuple(pairs)
