from __future__ import annotations

from typing import Literal

import pytest

from benchmarks.claims import Claim, measure_alternately, ratios_by_round


@pytest.mark.parametrize(
    ("direction", "measured", "holds"),
    [
        ("at least", (0.9, 0.96, 0.97), True),
        ("at least", (0.9, 0.94, 0.97), False),
        ("at most", (0.9, 0.95, 1.4), True),
        ("at most", (0.9, 0.96, 0.97), False),
    ],
)
def test_a_claim_holds_by_its_median(
    direction: Literal["at least", "at most"], measured: tuple[float, ...], holds: bool
) -> None:
    claim = Claim("one / other", measured, 0.95, direction)
    assert claim.holds == holds
    assert claim.spread == (measured[0], measured[-1])


def test_a_claim_without_a_bound_holds() -> None:
    assert Claim("one / other", (0.1, 0.2)).holds


def test_sides_alternate_in_going_first() -> None:
    order: list[str] = []

    def side(name: str, seconds: float) -> float:
        order.append(name)
        return seconds

    measured = measure_alternately(lambda: side("A", 1.0), lambda: side("B", 2.0), rounds=3)
    assert "".join(order) == "ABBAAB"
    assert ratios_by_round(measured) == (0.5, 0.5, 0.5)
