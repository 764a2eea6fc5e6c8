"""Samples of examples."""

from __future__ import annotations

import pytest

from finetune.data.example import sample_evenly
from tests.finetune.toy_model import EXAMPLES

pytestmark = pytest.mark.torch


def test_a_few_are_taken_evenly_from_all() -> None:
    assert [one.id for one in sample_evenly(EXAMPLES, 4)] == [EXAMPLES[at].id for at in (0, 5, 10, 15)]
    assert sample_evenly(EXAMPLES, 100) == list(EXAMPLES)
    assert sample_evenly(EXAMPLES, 0) == sample_evenly((), 3) == []
