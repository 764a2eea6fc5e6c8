"""More than two systems on one scale: Bradley and Terry's (1952) strengths, thousands of bootstrap fits at once.

The chance that one system beats another is the logistic function of the difference of their strengths, which are
logarithms of odds and sum to zero. A tie is half a win for each. All fits of a bootstrap are Newton steps on a stack of
matrices.

A system that never lost, or never won, has no finite strength (Ford 1957: every system must be reached from every
other by wins). Then each system is given half a win and half a loss against an imagined one of middling strength, and
the votes are drawn from the fitted strengths, since items drawn again never show the loss that was not seen. The
result says so. Its interval has no end on that side, and on the other it reaches as far as Clopper and Pearson's (1934)
would for the items where the two met. In a resample where it is so, strengths have no end either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eval.human.analysis.preference_rates import win_share
from eval.human.analysis.vote_selection import select_pair_votes, systems_in_votes
from eval.human.vote import Vote
from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.proportion import CONFIDENCE_LEVEL
from eval.statistics.row_bootstrap import BOOTSTRAP_SAMPLES, resample_row_sums

# Strengths are found to this, and a step never parts two systems by more than 1: then each step climbs (Bach 2010,
# the loss is self-concordant).
_CLOSE = 1e-9
_LONGEST = 1.0
_STEPS = 200
StrengthEnds: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class SystemStrength:
    """Where a system stands."""

    system: str
    value: float
    low: float | None
    """None: there is no lower end, as of one that never won."""
    high: float | None
    """None: there is no upper end, as of one that never lost."""
    best: int
    """Of its rank in 95% of the resamples; 1 is the strongest."""
    worst: int
    won: float
    """Of its votes, with half of its ties."""
    votes: int


@dataclass(frozen=True, slots=True)
class WinProbability:
    """How likely the first wins a vote against the second, as the strengths have it."""

    first: str
    second: str
    chance: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Whether the interval leaves out an even chance."""
        return self.low > 0.5 or self.high < 0.5


@dataclass(frozen=True, slots=True)
class BradleyTerry:
    """All systems, the strongest first."""

    strengths: tuple[SystemStrength, ...]
    pairs: tuple[WinProbability, ...]
    """Each two, the stronger first."""
    votes: int
    items: int
    samples: int
    regularised: bool
    """Some system never lost or never won, so all strengths are drawn together a little."""
    regularised_samples: int
    """In so many resamples it was so."""
    ties: str = "half a win each"


def bradley_terry(
    votes: Iterable[Vote], *, samples: int = BOOTSTRAP_SAMPLES, seed: int = 1, level: float = CONFIDENCE_LEVEL
) -> BradleyTerry | Unmeasured:
    """The strengths, with intervals over resamples of items; or why there is no common scale."""
    own = select_pair_votes(votes)
    systems = systems_in_votes(own)
    if len(systems) < 2:
        return Unmeasured("there is no vote between two systems")
    rows = _rows(own, systems)
    wins = rows.sum(axis=0).reshape(1, len(systems), len(systems))
    if reason := _parted(wins[0], systems):
        return Unmeasured(reason)
    if not any(vote.winner for vote in own):
        return Unmeasured(f"all {len(own):,} votes are ties, and how sure that is can't be told from them")
    reached = _reached(wins)
    regularised = not bool(reached.all())
    value = fit_strengths(wins, ghosts=np.array([float(regularised)]))[0]
    tried = (
        _imagined(wins[0], value, samples=samples, seed=seed)
        if regularised
        else resample_row_sums(rows, samples=samples, seed=seed).reshape(samples, *wins.shape[1:])
    )
    # Where votes were drawn from strengths, what was never beaten in the votes themselves has no end in any of them.
    led = _reached(tried)
    loose = ~led.all(axis=(1, 2))
    led &= reached
    found = fit_strengths(tried, ghosts=np.maximum(loose, regularised).astype(np.float64))
    order = [int(place) for place in np.argsort(-value, kind="stable")]
    apart = _differences(found, led, level)
    alone = _ends(found, led, level)
    ranks = _ranks(found, level)
    if regularised:
        apart = _widened(*apart, rows.reshape(-1, *wins.shape[1:]), level)
        alone = _at_least(*alone, *apart)
        ranks = _sure_ranks(apart[0])
    return BradleyTerry(
        _strengths(systems, order, value, alone, ranks, wins[0]),
        _pairs(systems, order, value, *apart),
        len(own),
        len({vote.item for vote in own}),
        samples,
        regularised,
        int(loose.sum()),
    )


def fit_strengths(wins: FloatArray, *, ghosts: FloatArray) -> FloatArray:
    """Strengths that make the wins (fits, systems, systems) likeliest: (fits, systems), each summing to zero.

    `ghosts` is 1 for a fit with half a win and half a loss against a system of strength zero, else 0.
    """
    strengths = np.zeros(wins.shape[:2])
    games = wins + wins.swapaxes(1, 2)
    won = wins.sum(axis=2) + ghosts[:, None] / 2
    going = np.arange(len(wins))
    for _ in range(_STEPS):
        step = _step(strengths[going], games[going], won[going], ghosts[going])
        strengths[going] += step
        going = going[np.ptp(step, axis=1) > _CLOSE]
        if not len(going):
            break
    centred: FloatArray = strengths - strengths.mean(axis=1, keepdims=True)
    return centred


def _step(strengths: FloatArray, games: FloatArray, won: FloatArray, ghosts: FloatArray) -> FloatArray:
    """Newton's, cut short where it would leap."""
    systems = strengths.shape[1]
    chance = _logistic(strengths[:, :, None] - strengths[:, None, :])
    alone = _logistic(strengths)
    slope = won - (games * chance).sum(axis=2) - ghosts[:, None] * alone
    weights = games * chance * (1 - chance)
    bend = -weights
    diagonal = np.arange(systems)
    bend[:, diagonal, diagonal] += weights.sum(axis=2) + ghosts[:, None] * alone * (1 - alone)
    # Without a ghost only differences matter; this fixes the sum, and no difference.
    bend += np.where(ghosts == 0, 1.0 / systems, 0.0)[:, None, None]
    step: FloatArray = np.linalg.solve(bend, slope[..., None])[..., 0]
    longest = np.ptp(step, axis=1, keepdims=True) + np.abs(step.mean(axis=1, keepdims=True))
    step *= np.minimum(1.0, _LONGEST / np.maximum(longest, _CLOSE))
    return step


def _logistic(values: FloatArray) -> FloatArray:
    chance: FloatArray = 0.5 * (1 + np.tanh(values / 2))
    return chance


def _rows(votes: Sequence[Vote], systems: Sequence[str]) -> FloatArray:
    """A row for each item, or document that was read as one: the wins of each system over each other."""
    place = {name: number for number, name in enumerate(systems)}
    units = {unit: number for number, unit in enumerate(dict.fromkeys(vote.unit for vote in votes))}
    rows = np.zeros((len(units), len(systems), len(systems)))
    for vote in votes:
        one, other = vote.pair
        rows[units[vote.unit], place[one], place[other]] += win_share(vote, one)
        rows[units[vote.unit], place[other], place[one]] += win_share(vote, other)
    return rows.reshape(len(units), -1)


def _imagined(wins: FloatArray, strengths: FloatArray, *, samples: int, seed: int) -> FloatArray:
    """Wins that systems of these strengths would have in as many votes, each without a tie."""
    games = np.rint(np.triu(wins + wins.T)).astype(int)
    chance = _logistic(strengths[:, None] - strengths[None, :])
    won = np.random.default_rng(seed).binomial(games, chance, size=(samples, *wins.shape))
    return (won + (games - won).swapaxes(1, 2)).astype(np.float64)


def _reached(wins: FloatArray) -> NDArray[np.bool_]:
    """Of each fit, whether wins lead from one system to another: (fits, from, to)."""
    systems = wins.shape[1]
    steps = ((wins > 0) | np.eye(systems, dtype=bool)).astype(np.float32)
    for _ in range((systems - 1).bit_length()):
        steps = (steps @ steps > 0).astype(np.float32)
    return steps > 0


def _parted(wins: FloatArray, systems: Sequence[str]) -> str:
    """A sentence, where no votes lead from some systems to others."""
    joined = _reached((wins + wins.T)[None])[0]
    groups = dict.fromkeys(
        tuple(name for name, near in zip(systems, row, strict=True) if near) for row in joined
    )
    if len(groups) == 1:
        return ""
    told = "; ".join(", ".join(group) for group in groups)
    return f"no vote compares these groups of systems, so they share no scale: {told}"


def _differences(found: FloatArray, led: NDArray[np.bool_], level: float) -> StrengthEnds:
    """The ends of the first strength less the second, (systems, systems); without end where no win leads back."""
    apart = found[:, :, None] - found[:, None, :]
    low = _end(np.where(led, apart, -np.inf), (1 - level) / 2)
    high = _end(np.where(led.swapaxes(1, 2), apart, np.inf), (1 + level) / 2)
    return low, high


def _end(values: FloatArray, share: float) -> FloatArray:
    """A quantile along the resamples; between an end and no end there is nothing to interpolate."""
    method: Literal["linear", "lower", "higher"] = "linear"
    if np.isinf(values).any():
        method = "lower" if share < 0.5 else "higher"
    found: FloatArray = np.quantile(values, share, axis=0, method=method)
    return found


def _widened(low: FloatArray, high: FloatArray, rows: FloatArray, level: float) -> StrengthEnds:
    """Of those who never lost to another, so low that they would have won all their meetings in 1 of 40 tests."""
    meetings = (rows + rows.swapaxes(1, 2) > 0).sum(axis=0)
    chance = ((1 - level) / 2) ** (1 / np.maximum(meetings, 1))
    least = np.where(meetings > 0, np.log(chance) - np.log1p(-chance), np.inf)
    unbeaten = np.isinf(high) & (high > 0)
    lower = np.where(unbeaten, np.minimum(low, least), low)
    return lower, -lower.T


def _ends(found: FloatArray, led: NDArray[np.bool_], level: float) -> StrengthEnds:
    """Of each strength; without end below where it leads not to all others, and above where not all lead to it."""
    low = _end(np.where(led.all(axis=2), found, -np.inf), (1 - level) / 2)
    high = _end(np.where(led.all(axis=1), found, np.inf), (1 + level) / 2)
    return low, high


def _at_least(low: FloatArray, high: FloatArray, below: FloatArray, above: FloatArray) -> StrengthEnds:
    """As wide as the differences to all others, of which a strength is the mean."""
    return np.minimum(low, below.mean(axis=1)), np.maximum(high, above.mean(axis=1))


def _ranks(found: FloatArray, level: float) -> StrengthEnds:
    """The best and the worst in most of the resamples."""
    ranks = 1 + (found[:, None, :] > found[:, :, None]).sum(axis=2)
    best, worst = np.quantile(ranks, [(1 - level) / 2, (1 + level) / 2], axis=0, method="inverted_cdf")
    return best, worst


def _sure_ranks(low: FloatArray) -> StrengthEnds:
    """Behind all that are surely stronger, and before all that are surely weaker."""
    return 1 + (low > 0).sum(axis=0), len(low) - (low > 0).sum(axis=1)


def _strengths(
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


def _pairs(
    systems: Sequence[str], order: Sequence[int], value: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[WinProbability, ...]:
    pairs = []
    for one, other in combinations(order, 2):
        ends = np.array([value[one] - value[other], low[one, other], high[one, other]])
        chance, least, most = map(float, _logistic(ends))
        pairs.append(WinProbability(systems[one], systems[other], chance, least, most))
    return tuple(pairs)
