"""Plots of a comparison stay within their box."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from eval.compare import plots
from eval.compare.plots import SystemGain, chapter_gain_plot, gain_plot

NUMBERS = st.floats(-1e4, 1e4, allow_nan=False)


@given(st.lists(st.tuples(st.floats(0, 5), NUMBERS, st.floats(0, 100), st.floats(0, 100)), min_size=1, max_size=8))
def test_points_and_labels_stay_in_the_box(given: list[tuple[float, float, float, float]]) -> None:
    plot = gain_plot([SystemGain("s", rate, gain, gain - down, gain + up) for rate, gain, down, up in given])
    assert plot
    for point in plot.points:
        assert plots.LEFT <= point.x <= plots.WIDTH - plots.RIGHT
        assert plots.TOP - 0.1 <= point.top <= point.y <= point.bottom <= plots.HEIGHT - plots.BOTTOM + 0.1
    labels = sorted(point.label for point in plot.points)
    assert all(b - a >= 14.8 for a, b in pairwise(labels))


def test_axis_ticks_are_round_numbers() -> None:
    plot = gain_plot([SystemGain("s", 0.43, 1.7, -0.4, 3.3)])
    assert plot
    assert [tick.value for tick in plot.up] == [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0]
    assert [tick.value for tick in plot.across] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


@given(st.lists(NUMBERS, min_size=2, max_size=9))
def test_strips_contain_zero_and_every_chapter(values: list[float]) -> None:
    plot = chapter_gain_plot({"s": {str(place): value for place, value in enumerate(values)} | {"none": None}})
    assert plot
    assert len(plot.strips[0].dots) == len(values)
    assert all(60 <= x <= 940 for x in [plot.zero, *(dot.x for dot in plot.strips[0].dots)])


def test_a_single_chapter_has_no_plot() -> None:
    assert chapter_gain_plot({"s": {"only": 1.0}}) is None
