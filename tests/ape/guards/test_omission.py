"""Words omitted from a sentence that is otherwise copied."""

from __future__ import annotations

import pytest

from ape.guards.omission import omission
from ape.passage.result import Severity
from ape.passage.segment import Draft, Segment


def findings(mt: str, draft: str, *, target: str = "en") -> list[str]:
    found = omission(Segment("—", mt, "fr", target), Draft(draft))
    assert all(finding.severity is Severity.REJECT for finding in found)
    return [finding.message for finding in found]


@pytest.mark.parametrize(
    ("mt", "draft", "left_out"),
    [
        (
            "Among the children she counts as the wildest and also the quickest at sums.",
            "Among the children he counts as the quickest at sums.",
            "wildest",
        ),
        (
            "The piano filled the room like an animal fills its den: black, old and out of tune.",
            "The piano filled the room: black, old and out of tune.",
            "like an animal fills its den",
        ),
        (
            "It rained. The ferryman, who had drunk since noon without a word, untied the rope. They left.",
            "It was raining. The ferryman untied the rope. They left.",
            "drunk since noon",
        ),
    ],
)
def test_a_missing_clause_is_quoted(mt: str, draft: str, left_out: str) -> None:
    (message,) = findings(mt, draft)
    assert left_out in message


def test_a_missing_clause_is_found_in_chinese() -> None:
    mt = "她把信放在桌上，然后头也不回地走进了夜色，门没有关。"
    assert findings(mt, "她把信放在桌上，门没有关。", target="zh")


@pytest.mark.parametrize(
    ("mt", "draft"),
    [
        ("He did the making of the breakfast of the morning.", "He made breakfast."),
        ("He went to the the market market of the town.", "He went to the town market."),
        ("It is a fact that the door was closed.", "The door was closed."),
        ("In the year that was then, she left the town.", "That year, she left town."),
        ("The house stood at the top, the shutters closed.", "At the top, shutters closed, stood the house."),
        ("He gave to her of the bread that was fresh and hot from the oven.", "He gave her fresh, oven-hot bread."),
    ],
)  # fmt: skip
def test_a_shorter_wording_passes(mt: str, draft: str) -> None:
    assert not findings(mt, draft)


def test_a_loop_of_the_mt_may_be_cut() -> None:
    assert not findings("The sea and the sea and the sea and the sea was calm.", "The sea was calm.")


def test_short_words_count_at_the_end_of_the_passage() -> None:
    assert findings("She posed his suitcase and sat on his bed.", "She posed his suitcase.")
    assert findings(
        "It was late at night. He put out the lamp and got in bed.", "It was late at night. He put out the lamp."
    )
    assert not findings("She put it on the bed of hers that she had.", "She put it on her bed.")
    assert not findings("She sat on the bed and she did sit on it.", "She sat on the bed.")
