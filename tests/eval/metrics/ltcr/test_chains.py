"""Chains: found in annotated text, or read from the annotated test set."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from ape.errors import InputError
from eval.linguistics.annotators.protocol import Token
from eval.metrics.ltcr.chains import (
    CHAIN_CATEGORIES,
    CHAIN_DISTANCES,
    LexicalChain,
    most_frequent_category,
    read_annotated_chains,
    repeated_word_chains,
)


def test_only_content_words_that_are_repeated_make_chains() -> None:
    first = [Token("诊所", 0, "NN", "诊所"), Token("的", 2, "DEG", "的"), Token("红", 3, "VA", "红")]
    second = [Token("的", 0, "DEG", "的"), Token("诊所", 1, "NN", "诊所")]
    assert repeated_word_chains([first, second], "zh") == [
        LexicalChain("诊所", ((0, 0), (1, 1)), CHAIN_CATEGORIES.index("noun"))
    ]


def test_an_english_word_is_its_lemma() -> None:
    tokens = [[Token("Laws", 0, "NNS", "law")], [Token("law", 0, "NN", "law")]]
    assert [chain.word for chain in repeated_word_chains(tokens, "en")] == ["law"]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [(["NN", "NR", "VV"], "noun"), (["VE"], "verb"), (["AD", "VA", "NN"], "adjective/adverb"), (["P"], "other")],
)
def test_a_chain_has_the_category_that_most_of_its_words_have(tags: list[str], expected: str) -> None:
    assert CHAIN_CATEGORIES[most_frequent_category(tags, "zh")] == expected


def test_far_pairs_are_counted_together() -> None:
    chain = LexicalChain("诊所", ((0, 0), (0, 3), (4, 1), (9, 0)))
    found = Counter(CHAIN_DISTANCES[distance] for _, _, distance in chain.pairs())
    assert found == {"0": 1, "4": 2, ">=5": 3}


def test_the_test_set_has_the_published_number_of_pairs(shared_data: Path) -> None:
    annotated = read_annotated_chains(shared_data / "ltcr_zh_en.jsonl")
    chains = [chain for one in annotated.values() for chain in one.chains]
    found = Counter(distance for chain in chains for _, _, distance in chain.pairs())
    assert len(annotated) == 310
    assert [found[distance] for distance in range(len(CHAIN_DISTANCES))] == [945, 2571, 2013, 1729, 1424, 8610]
    assert found.total() == 17292  # Lei et al. 2024, Tables 1 and 3


@pytest.mark.parametrize(
    ("position", "message"), [([0, 1], "sentence 0, token 1"), ([3, 0], "sentence 3, token 0"), ([0, -1], "token -1")]
)
def test_a_chain_with_a_wrong_position_is_refused_by_line(tmp_path: Path, position: list[int], message: str) -> None:
    row = {"id": "a", "source_tokens": [["诊所"]], "chains": [{"word": "诊所", "positions": [position]}]}
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"set\.jsonl, line 1: the word '诊所' is not at .*{message}"):
        read_annotated_chains(path)


def test_an_invalid_line_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"set\.jsonl, line 1: not a document with chains"):
        read_annotated_chains(path)
