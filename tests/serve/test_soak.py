"""A long and rude evening: the service on the real engine, and nothing left over when the guests have gone."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from ape.verdict import Decision
from tests.serve.soak import IN_FLIGHT, house, plans, play

HALF = 100
# After warming up a hundred requests added 0.3 to 2.2 MB; with llama.cpp's own prompt cache left on, 100.
MEGABYTES = 10


def test_two_hundred_clients_are_answered_and_those_who_hang_up_leave_nothing_behind(
    smollm2: Path, tmp_path: Path
) -> None:
    with house(smollm2, tmp_path) as opened:
        asyncio.run(play(opened.address, plans(IN_FLIGHT, seed=0)))
        before = opened.settle()
        outcomes = asyncio.run(play(opened.address, plans(HALF, seed=1)))
        halfway = opened.settle()
        outcomes += asyncio.run(play(opened.address, plans(HALF, seed=2)))
        after = opened.settle(threads=before.threads)

    told_to_wait = outcomes.pop("told to come again")
    left = outcomes.pop("left")
    assert told_to_wait > 0
    assert HALF / 2 < left < HALF
    answered = Counter({name: outcomes.pop(name) for name in list(outcomes) if name in list(Decision)})
    assert not outcomes, "some who stayed got no decision"
    assert answered.total() + left == 2 * HALF

    assert (after.busy_slots, after.held) == (0, 0)
    assert after.tasks == before.tasks
    assert after.threads <= before.threads
    assert after.descriptors <= before.descriptors
    assert after.megabytes <= halfway.megabytes + MEGABYTES
