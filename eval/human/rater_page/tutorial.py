"""The tutorial of trials with spans: short passages of ours with known errors; the page checks the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# `expected`: words that must be marked, by text and severity ("" for something missing), and which score is higher.
TUTORIAL: tuple[Mapping[str, Any], ...] = (
    {
        "source": "Elle ferma la porte sans un mot.",
        "a": "He closed the door without a word.",
        "b": "She closed the door without a word.",
        "expected": [{"side": "first", "words": "He", "severity": "major"}],
        "higher": "second",
        "task": "Elle is a woman, so “He” in A changes the meaning. Click on “He” (or press a), then mark it as a "
        "major error: Space marks it as minor, and again as major. Then give B the higher score, and save.",
    },
    {
        "source": "Il pleuvait des cordes quand Marthe arriva à la gare, et son frère l’attendait.",
        "a": "It was raining ropes when Marthe arrived at the station.",
        "b": "It was pouring when Marthe reached the station, and her brother was waiting for her.",
        "expected": [
            {"side": "first", "words": "raining ropes", "severity": "minor"},
            {"side": "first", "words": "", "severity": "major"},
        ],
        "higher": "second",
        "task": "“Raining ropes” is a French idiom taken literally: mark both words of A as one minor error (drag, or "
        "Shift and →). The brother is missing in A: use “something is missing” and make that major. Score both.",
    },
)
