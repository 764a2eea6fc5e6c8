"""A picture of a training: the loss on train and dev, and the points of TER won on dev."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

_SMOOTHING = 0.9


def plot_losses(history: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw what the trainer logged."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    steps, losses = _series(history, "loss")
    axes.plot(steps, losses, color="#c9d4e5", linewidth=1)
    axes.plot(steps, _smooth(losses), color="#2b5c9e", label="loss, train")
    looked, dev = _series(history, "eval_loss")
    axes.plot(looked, dev, "o-", color="#b3541e", label="loss, dev")
    axes.set(xlabel="step", ylabel="loss a token", ylim=(0, None))
    axes.grid(alpha=0.3)
    looked, won = _series(history, "eval_ter_gain")
    if won:
        beside = axes.twinx()
        beside.plot(looked, won, "s--", color="#3f7d3a", label="TER won on dev")
        beside.axhline(0, color="#3f7d3a", linewidth=0.6)
        beside.set_ylabel("points of TER won")
        axes.plot([], [], "s--", color="#3f7d3a", label="TER won on dev")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, dpi=120)


def _series(history: Sequence[Mapping[str, Any]], name: str) -> tuple[list[int], list[float]]:
    rows = [(row["step"], row[name]) for row in history if name in row]
    return [step for step, _ in rows], [value for _, value in rows]


def _smooth(values: Sequence[float]) -> list[float]:
    return list(accumulate(values, lambda before, now: _SMOOTHING * before + (1 - _SMOOTHING) * now))
