"""Plots: scores by the share of omitted pronouns, and histograms of coreference chains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eval.suites.bwb.omission import OmissionBin
from eval.suites.bwb.statistics import ChainStatistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Markers distinguish the lines without colours.
_STYLES = tuple(
    zip(("#2b5c9e", "#b3541e", "#3f7d3a", "#7a4a9c", "#8a6d1d", "#3a7f86"), ("o", "s", "^", "D", "v", "P"), strict=True)
)


def plot_omission(curves: Mapping[str, Sequence[OmissionBin]], path: Path, *, score: str) -> None:
    """One line for each system; below, the number of documents in each bin."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True, height_ratios=(4, 1))
    for number, (name, bins) in enumerate(curves.items()):
        colour, marker = _STYLES[number % len(_STYLES)]
        measured = [(one, one.value) for one in bins if one.value is not None]
        places = [(one.low + one.high) / 2 for one, _ in measured]
        upper.plot(places, [value for _, value in measured], marker=marker, color=colour, label=name)
    documents = {(one.low, one.high): one.documents for bins in curves.values() for one in bins}
    for (low, high), number in documents.items():
        lower.bar((low + high) / 2, number, width=(high - low) * 0.9, color="#c9d4e5")
    upper.set_ylabel(score)
    upper.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=min(len(curves), 4), frameon=False)
    lower.set(xlabel="share of pronouns omitted in the source", ylabel="documents", xlim=(0, 1))
    lower.yaxis.get_major_locator().set_params(integer=True)
    figure.savefig(path, dpi=120)


def plot_chains(chains: Mapping[str, ChainStatistics], path: Path) -> None:
    """Figure 3: distances, spreads and sizes side by side, one colour for each language."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.5), layout="constrained")
    panels = figure.subplots(1, 3)
    for number, (name, found) in enumerate(chains.items()):
        counters = (found.distances, found.spreads, found.sizes)
        for axes, counts in zip(panels, counters, strict=True):
            _bars(axes, counts, name, place=number, of=len(chains))
    labels = ("sentences to the nearest antecedent", "sentences from first to last mention", "mentions of an entity")
    for axes, label in zip(panels, labels, strict=True):
        axes.set(xlabel=label, ylabel="how many")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.yaxis.get_major_locator().set_params(integer=True)
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=len(chains), frameon=False)
    figure.savefig(path, dpi=120)


def _bars(axes: Axes, counts: Counter[int], name: str, *, place: int, of: int) -> None:
    width = 0.8 / of
    places = [value - 0.4 + width * (place + 0.5) for value in counts]
    axes.bar(places, list(counts.values()), width=width, color=_STYLES[place % len(_STYLES)][0], label=name)
