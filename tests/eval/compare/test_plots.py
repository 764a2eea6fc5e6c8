"""Nothing is drawn outside its box, whatever was measured."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from eval.compare import plots
from eval.compare.plots import SystemGain, chapter_gain_plot, gain_plot

NUMBERS = st.floats(-1e4, 1e4, allow_nan=False)


@given(
    st.lists(
        st.tuples(st.floats(0, 5), NUMBERS, st.floats(0, 100), st.floats(0, 100)), min_size=1, max_size=8
    )
)
def test_the_cloud_stays_in_its_box(given: list[tuple[float, float, float, float]]) -> None:
    drawn = gain_plot([SystemGain("s", rate, gain, gain - down, gain + up) for rate, gain, down, up in given])
    assert drawn
    for point in drawn.points:
        assert plots.LEFT <= point.x <= plots.WIDTH - plots.RIGHT
        assert plots.TOP - 0.1 <= point.top <= point.y <= point.bottom <= plots.HEIGHT - plots.BOTTOM + 0.1
    labels = sorted(point.label for point in drawn.points)
    assert all(b - a >= 14.8 for a, b in pairwise(labels))


def test_round_numbers_stand_on_the_scale() -> None:
    drawn = gain_plot([SystemGain("s", 0.43, 1.7, -0.4, 3.3)])
    assert drawn
    assert [tick.value for tick in drawn.up] == [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0]
    assert [tick.value for tick in drawn.across] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


@given(st.lists(NUMBERS, min_size=2, max_size=9))
def test_strips_hold_zero_and_every_chapter(values: list[float]) -> None:
    drawn = chapter_gain_plot(
        {"s": {str(place): value for place, value in enumerate(values)} | {"none": None}}
    )
    assert drawn
    assert len(drawn.strips[0].dots) == len(values)
    assert all(60 <= x <= 940 for x in [drawn.zero, *(dot.x for dot in drawn.strips[0].dots)])


def test_one_chapter_is_no_spread() -> None:
    assert chapter_gain_plot({"s": {"only": 1.0}}) is None
