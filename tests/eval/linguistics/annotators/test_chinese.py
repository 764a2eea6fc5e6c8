"""Chinese by jieba, in the Treebank's tags."""

from __future__ import annotations

import pytest

from eval.linguistics.annotators.chinese import JiebaAnnotator, treebank_tag

TEXT = "他在北京大学读书，喝了一杯茶。 小明没有来！"


def test_words_and_sentences_have_offsets() -> None:
    found = JiebaAnnotator().annotate([TEXT, ""])
    one = found[0]
    assert all(TEXT[token.start : token.end] == token.text for token in one.tokens)
    assert "".join(token.text for token in one.tokens) == TEXT.replace(" ", "")
    assert [one.tokens[place].text[0] for place in one.sentences] == ["他", "小"]
    assert ("北京大学", "ORG") in [(name.text, name.label) for name in one.entities]
    assert not found[1].tokens
    assert not found[1].sentences


@pytest.mark.parametrize(
    ("word", "part", "tag"),
    [
        ("茶", "n", "NN"),
        ("小明", "nr", "NR"),
        ("小明", "nrt", "NR"),
        ("今天", "t", "NT"),
        ("读书", "v", "VV"),
        ("是", "v", "VC"),
        ("没有", "v", "VE"),
        ("美丽", "a", "VA"),
        ("很", "d", "AD"),
        ("他", "r", "PN"),
        ("，", "x", "PU"),
        ("12", "x", "CD"),
        ("的", "uj", "DEG"),
        ("不知", "zz", "VA"),
        ("谜", "?", "NN"),
    ],
)
def test_parts_of_speech_become_tags(word: str, part: str, tag: str) -> None:
    assert treebank_tag(word, part) == tag
