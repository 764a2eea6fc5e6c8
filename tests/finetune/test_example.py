"""Examples, and a few of many."""

from __future__ import annotations

from finetune.example import evenly
from tests.finetune.tiny import EXAMPLES


def test_a_few_are_taken_evenly_from_all() -> None:
    assert [one.id for one in evenly(EXAMPLES, 4)] == [EXAMPLES[at].id for at in (0, 5, 10, 15)]
    assert evenly(EXAMPLES, 100) == list(EXAMPLES)
    assert evenly(EXAMPLES, 0) == evenly((), 3) == []
