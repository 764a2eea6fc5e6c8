from __future__ import annotations

from pathlib import Path

import pytest

from ape.engines.protocol import Reply, Sampling
from ape.models import DEFAULT_MODEL
from ape.passage.result import Usage
from ape.passage.segment import Draft
from benchmarks.decoding import SideRun, compare_unchanged, measure
from prompts import SEP, Question

pytestmark = pytest.mark.slow


def test_both_sides_write_the_same_tokens(smollm2: Path) -> None:
    """With the small model; whether the bound holds is not tested, as that depends on the machine."""
    (claim,) = measure(model=DEFAULT_MODEL, in_flight=(2,), passages=3, rounds=1)
    assert claim.bound == 1.0
    assert claim.ratio > 0
    assert "3 of 3 drafts the same" in claim.note or "differ by" in claim.note


def test_passages_that_both_sides_leave_alone_are_counted_with_their_time() -> None:
    kept, changed = (SEP.render(Question("source", mt, "French", "English")) for mt in ("as it is", "as it was"))
    sampling = Sampling(temperature=0, top_p=1, seed=1, max_tokens=9, max_characters=99)
    replies = [Reply(Draft(text), Usage()) for text in ("as it is", "as it should be")]
    ours, plain = SideRun(3, 3, replies, [1.0, 2.0]), SideRun(9, 9, replies, [4.0, 5.0])
    said = compare_unchanged([(kept, sampling), (changed, sampling)], [ours], [plain])
    assert said == "1 of 2 left as they are, in 0.25 of the time"
