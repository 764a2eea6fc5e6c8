"""Plot of a training run: the loss on train and dev, and the TER gain on dev."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

_SMOOTHING = 0.9


def plot_losses(history: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Plot the trainer's log history."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    steps, losses = _series(history, "loss")
    axes.plot(steps, losses, color="#c9d4e5", linewidth=1)
    axes.plot(steps, _smooth(losses), color="#2b5c9e", label="loss, train")
    dev_steps, dev = _series(history, "eval_loss")
    axes.plot(dev_steps, dev, "o-", color="#b3541e", label="loss, dev")
    axes.set(xlabel="step", ylabel="loss per token", ylim=(0, None))
    axes.grid(alpha=0.3)
    gain_steps, gains = _series(history, "eval_ter_gain")
    if gains:
        right = axes.twinx()
        right.plot(gain_steps, gains, "s--", color="#3f7d3a")
        right.axhline(0, color="#3f7d3a", linewidth=0.6)
        right.set_ylabel("TER gain (points)")
        axes.plot([], [], "s--", color="#3f7d3a", label="TER gain, dev")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, dpi=120)


def _series(history: Sequence[Mapping[str, Any]], name: str) -> tuple[list[int], list[float]]:
    rows = [(row["step"], row[name]) for row in history if name in row]
    return [step for step, _ in rows], [value for _, value in rows]


def _smooth(values: Sequence[float]) -> list[float]:
    return list(accumulate(values, lambda before, now: _SMOOTHING * before + (1 - _SMOOTHING) * now))
