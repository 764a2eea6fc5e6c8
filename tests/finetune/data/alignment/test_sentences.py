from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finetune.data.alignment.sentences import split_alignment_sentences


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        ("The mill stood. Nobody came.", ["The mill stood.", "Nobody came."]),
        ("“Alas!” said the miller. “Rain!”", ["“Alas!”", "said the miller.", "“Rain!”"]),
        ('He looked up. "Rain," he said.', ["He looked up.", '"Rain," he said.']),
        ("Mr. Voss saw M. le Comte.", ["Mr. Voss saw M. le Comte."]),
        ("So it ended. »", ["So it ended. »"]),
        ("* * *", ["* * *"]),
        (" \n ", []),
    ],
)
def test_sentences_are_cut_where_one_voice_gives_way_to_another(paragraph: str, expected: list[str]) -> None:
    assert split_alignment_sentences(paragraph) == expected


@given(st.text(alphabet="ab. !?\"'“”\n—", max_size=60))
def test_no_letter_is_lost(paragraph: str) -> None:
    assert "".join("".join(split_alignment_sentences(paragraph)).split()) == "".join(paragraph.split())
