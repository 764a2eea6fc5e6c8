"""Speech tags that a draft loses."""

from __future__ import annotations

import pytest

from ape.guards.speech_tags import speech_tags
from ape.passage.result import Severity
from ape.passage.segment import Draft, Segment


def findings(mt: str, draft: str, *, target: str = "en") -> list[str]:
    found = speech_tags(Segment("—", mt, "fr", target), Draft(draft))
    assert all(finding.severity is Severity.REJECT for finding in found)
    return [finding.message for finding in found]


@pytest.mark.parametrize(
    ("mt", "draft", "tag"),
    [
        ("“It is well,” replied the doctor, “but cold.”", "“It is well, but cold.”", "replied the doctor"),
        ("‘It is well,’ replied the doctor, ‘but cold.’", "‘It is well, but cold.’", "replied the doctor"),
        ("'It is well,' replied the doctor.", "'It is well.'", "replied the doctor"),
        ("“Come here!” he shouted. They ran.", "“Come here!” They ran.", "he shouted"),
        ('"No," said Anna. "Not today," said Paul.', '"No." "Not today."', "said Anna"),
    ],
)
def test_a_lost_tag_is_rejected_and_quoted(mt: str, draft: str, tag: str) -> None:
    (message,) = findings(mt, draft)
    assert tag in message


@pytest.mark.parametrize(
    ("mt", "draft"),
    [
        ("“It is well,” replied the doctor.", "“It is fine,” the doctor replied."),
        ("“It is well,” replied the doctor.", "“It is fine,” answered the doctor."),
        ("“It is well,” replies the doctor.", "“It is well,” replied the doctor."),
        ("“It is well,” replied the doctor.", "The doctor replied that it was well."),
        ("“Come!” he rose and left the room without a word.", "“Come!” He left."),
        ("“Come,” said Anna. Anna said it twice.", "“Come,” said Anna, twice."),
        ("He said that it rained.", "It rained."),
    ],
)
def test_other_changes_of_speech_are_allowed(mt: str, draft: str) -> None:
    assert findings(mt, draft) == []


def test_other_languages_are_left_alone() -> None:
    assert findings("„Gut“, sagte er.", "„Gut.“", target="de") == []
