"""Drafts that repeat themselves."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf

MT = "He took the lamp from the table, and together they went down to the cellar."
EDITED = "He took the lamp off the table, and the two of them went down into the cellar."


@pytest.mark.parametrize(
    ("mt", "draft"),
    [
        (MT, EDITED + " cellar" * 9),
        (MT, EDITED + " into the cellar" * 5),
        (MT, " ".join([EDITED] * 3)),
        (MT, EDITED + "!" * 30),
        (MT, EDITED + " . . . . . . . . . . ."),
        (MT, "He took the lamp" + "aaaaaaaaaaaaaaa"),
        (MT, "hahahahahahahahahaha " + EDITED),
        ("他走下楼梯。", "他走下楼梯" + "走下楼梯" * 8 + "。"),
        ("彼は階段を下りた。", "彼は階段を下りた。" * 5),
        ("Он спустился по лестнице.", "Он спустился по лестнице, " + "по лестнице, " * 7),
        ("نزل الدرج ببطء.", "نزل الدرج ببطء " + "ببطء " * 10),
        ("Who granted it?", "Who granted it? Who granted it?"),
        ("He went down the stairs.", "He went down the stairs, down the stairs."),
        ("他打开了房间的窗户。", "他打开了房间的窗户，打开了房间的窗户。"),
    ],
)
def test_loops_are_rejected(severity_of: SeverityOf, mt: str, draft: str) -> None:
    assert severity_of("loop", mt, draft) == "reject"


@pytest.mark.parametrize(
    ("mt", "draft"),
    [
        (MT, EDITED),
        ("No, no, no! he cried.", "“No, no, no!” he cried."),
        ("Very good, very good!", "Very, very good!"),
        ("Ring the bell, ring the bell, ring the bell.", "Ring the bell. Ring the bell! Ring the bell!"),
        ("Aaaaaaaaaaah!", "Aaaaaaaaaaaaah!"),
        ("Well........ maybe", "Well......... perhaps"),
        ("哈哈哈哈，他笑了。", "“哈哈哈哈！”他笑了。"),
        ("Come on, come here!", "Come on, come on!"),
        ("Wait for me! Wait for me!", "Wait for me, wait for me!"),
        ("One by one they left.", "One after one, one after another, they left."),
        ("Tick tock, tick tock, went the clock.", "Tick-tock, tick-tock, tick-tock went the clock."),
    ],
)  # fmt: skip
def test_refrains_pass(severity_of: SeverityOf, mt: str, draft: str) -> None:
    assert severity_of("loop", mt, draft) in ("", "warn")
