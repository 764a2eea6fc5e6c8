"""What the words of a mention and the text around it say."""

from __future__ import annotations

import pytest

from eval.linguistics.coreference.described_mention import DescribedMention, describe_mentions
from eval.linguistics.coreference.quotations import find_quotations


def described(text: str, tags: str, *spans: tuple[int, int, str]) -> list[DescribedMention]:
    words = text.split()
    mentions = {(start, end): kind for start, end, kind in spans}
    return list(describe_mentions(words, tags.split(), [0], mentions).mentions)


@pytest.mark.parametrize(
    ("text", "tags", "kind", "gender", "head"),
    [
        ("Mr. Harding", "NNP NNP", "name PER", "masculine", "harding"),
        ("Miss Holt", "NNP NNP", "name PER", "feminine", "holt"),
        ("Orlen", "NNP", "name GPE", "unknown", "orlen"),
        ("the old man", "DT JJ NN", "common PER", "masculine", "man"),
        ("her sister , who sang", "PRP$ NN , WP VBD", "common PER", "feminine", "sister"),
        ("the father of Jane", "DT NN IN NNP", "common PER", "masculine", "father"),
        ("the sailors", "DT NNS", "common PER", "plural", "sailors"),
        ("herself", "PRP", "pronoun", "feminine", "herself"),
        ("it", "PRP", "pronoun", "neuter", "it"),
        ("I", "PRP", "pronoun", "unknown", "i"),
    ],
)
def test_gender_and_head_follow_from_the_words(text: str, tags: str, kind: str, gender: str, head: str) -> None:
    (found,) = described(text, tags, (0, len(text.split()), kind))
    assert (found.gender, found.head) == (gender, head)


def test_a_determiner_and_a_title_are_no_content() -> None:
    (found,) = described("the old Mr. Harding", "DT JJ NNP NNP", (0, 4, "name PER"))
    assert found.content == {"old", "harding"}


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("“ Go , ” said Mira . “ Now . ”", [(0, 4), (7, 11)]),
        ('" Go , " said Mira . " Now . "', [(0, 4), (7, 11)]),
        ("‘ Go , ’ said Mira .", [(0, 4)]),
        ("Mira said nothing .", []),
    ],
)
def test_quotations_by_several_kinds_of_marks(text: str, spans: list[tuple[int, int]]) -> None:
    assert [(one.start, one.end) for one in find_quotations(text.split())] == spans


def test_a_quotation_that_never_ends_is_none() -> None:
    assert find_quotations(["“", *["word"] * 400]) == []


def test_the_speaker_stands_beside_a_verb_of_speech() -> None:
    words = "“ I go , ” said Mira to Sam .".split()
    tags = "`` PRP VBP , '' VBD NNP IN NNP .".split()
    text = describe_mentions(words, tags, [0], {(1, 2): "pronoun", (6, 7): "name PER", (8, 9): "name PER"})
    assert text.speakers == {0: 1}
    assert text.mentions[0].quotation == 0
    assert text.mentions[1].quotation == -1
