"""Whole texts split by a guide: no text is lost, the order stays, and most lines are right."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from eval.corpus.segmentation import split_by_guides

GUIDE = (
    "The ferryman waited until the fog had lifted.",
    "“Get in,” he said, and counted the coins. The widow obeyed.",
    "Nobody spoke before they reached the other bank.",
)
TEXTS = st.lists(
    st.sampled_from('fog coins. widow, bank! "Get in," he said; the … 他说。 \n A'.split(" ")), max_size=40
)


@settings(max_examples=60, deadline=None)
@given(pieces=TEXTS)
def test_no_character_is_lost_or_moved(pieces: list[str]) -> None:
    text = " ".join(pieces)
    parted = split_by_guides(text, [GUIDE])
    assert len(parted) == len(GUIDE)
    assert "".join(" ".join(parted).split()) == "".join(text.split())


def test_a_guide_splits_itself() -> None:
    assert split_by_guides(" ".join(GUIDE), [GUIDE]) == list(GUIDE)


def test_an_omitted_line_is_empty() -> None:
    assert split_by_guides("The ferryman waited for fog. Nobody spoke until the other bank.", [GUIDE]) == [
        "The ferryman waited for fog.",
        "",
        "Nobody spoke until the other bank.",
    ]


def test_an_empty_text_gives_empty_lines() -> None:
    assert split_by_guides("", [GUIDE]) == ["", "", ""]


def test_joined_lines_of_real_chapters_are_recovered(shared_data: Path) -> None:
    with (shared_data / "fiction_zh_en.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][:3]
    right = total = 0
    for row in rows:
        expected = [" ".join(text.split()) for text in row["systems"]["base"]]
        found = split_by_guides(" ".join(expected), [row["reference"]])
        right += sum(one == other for one, other in zip(found, expected, strict=True))
        total += len(expected)
    # Measured: 90% of the 2,752 lines of all four systems, by the reference alone.
    assert right / total > 0.85
