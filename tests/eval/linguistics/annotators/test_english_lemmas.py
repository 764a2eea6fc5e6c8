"""Lemmas of English words."""

from __future__ import annotations

import pytest

from eval.linguistics.annotators.english_lemmas import lemma
from eval.linguistics.annotators.english_tags import tag_lexicon


@pytest.mark.parametrize(
    ("singular", "plural"),
    [("painting", "paintings"), ("knife", "knives"), ("cave", "caves"), ("woman", "women"), ("story", "stories"),
     ("box", "boxes"), ("foot", "feet"), ("child", "children"), ("crisis", "crises"), ("motive", "motives")],
)  # fmt: skip
def test_singular_and_plural_have_one_lemma(singular: str, plural: str) -> None:
    assert lemma(singular, "NN") == lemma(plural, "NNS") == singular


def test_nearly_all_nouns_of_the_lexicon_agree_with_their_plural() -> None:
    nouns = [word for word, tag in tag_lexicon().items() if tag == "NN" and word.isalpha() and word.islower()]
    pairs = [(noun, noun + "s") for noun in nouns if tag_lexicon().get(noun + "s") == "NNS"]
    differing = [pair for pair in pairs if lemma(pair[0], "NN") != lemma(pair[1], "NNS")]
    assert len(pairs) > 4000
    assert len(differing) <= 4, differing  # 171 of 5,177 with simplemma alone


def test_names_agree_with_their_plural_and_other_names_keep_their_s() -> None:
    assert lemma("Neighbors", "NNPS") == lemma("Neighbor", "NNP") == "Neighbor"
    assert [lemma(name, "NNP") for name in ("James", "Paris", "Mars")] == ["James", "Paris", "Mars"]


def test_verbs_and_clitics_have_their_base_form() -> None:
    assert [lemma(*one) for one in (("painting", "VBG"), ("was", "VBD"), ("n't", "RB"), ("'s", "VBZ"))] == [
        "paint", "be", "not", "be",
    ]  # fmt: skip
