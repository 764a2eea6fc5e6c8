from __future__ import annotations

from pathlib import Path

import pytest

from ape.models import DEFAULT_MODEL
from benchmarks.embedded import MT, SOURCES, measure

pytestmark = pytest.mark.slow


def test_passages_are_measured_cold_and_with_kept_instructions(smollm2: Path) -> None:
    """With the small model; whether the bound holds is not tested, as that depends on the machine."""
    claims = measure(model=DEFAULT_MODEL, threads=(1,), rounds=1)
    assert len(claims) == 2
    for claim in claims:
        assert claim.bound == 0.95
        assert claim.is_comparable, claim
        assert claim.ratio > 0


def test_the_passages_have_some_sixty_words() -> None:
    assert len(SOURCES) == len(MT)
    assert all(45 < len(text.split()) < 65 for text in MT)
