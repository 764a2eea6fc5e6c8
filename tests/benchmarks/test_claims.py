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


@pytest.mark.parametrize(
    ("tokens", "comparable"), [(None, True), (0.97, True), (1.04, True), (0.59, False), (1.2, False)]
)
def test_sides_that_generated_different_amounts_are_not_compared(tokens: float | None, comparable: bool) -> None:
    claim = Claim("one / other", (1.7, 3.4), 0.95, tokens=tokens)
    assert claim.is_comparable == comparable
    assert claim.holds == comparable


@pytest.mark.parametrize(("prompt_tokens", "comparable"), [(None, True), (1.0, True), (1.001, False), (0.59, False)])
def test_sides_that_read_different_prompts_are_not_compared(prompt_tokens: float | None, comparable: bool) -> None:
    assert Claim("one / other", (1.7,), 0.95, tokens=1.0, prompt_tokens=prompt_tokens).is_comparable == comparable


def test_sides_alternate_in_going_first() -> None:
    order: list[str] = []

    def side(name: str, seconds: float) -> float:
        order.append(name)
        return seconds

    measured = measure_alternately(lambda: side("A", 1.0), lambda: side("B", 2.0), rounds=3)
    assert "".join(order) == "ABBAAB"
    assert ratios_by_round(measured) == (0.5, 0.5, 0.5)
