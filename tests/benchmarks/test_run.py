"""A run of all benchmarks goes on when one of them fails, and says so."""

from __future__ import annotations

import pytest

from benchmarks.__main__ import run_benchmarks
from benchmarks.claims import Claim


def test_a_benchmark_that_fails_does_not_take_the_others_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> list[Claim]:
        raise RuntimeError("the server did not start")

    one, uneven = Claim("one / other", (0.5,)), Claim("uneven / other", (3.0,), tokens=0.5)
    claims, failed = run_benchmarks({"first": lambda: [one], "broken": broken, "last": lambda: [uneven]})
    assert claims == [one, uneven]
    assert failed == ["broken"]
    printed = capsys.readouterr().err
    assert "RuntimeError: the server did not start" in printed
    assert "one / other: 0.50" in printed
    assert "uneven / other: none" in printed
