"""Training of the ranker on a made-up novel: what is right, the loss, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest

from eval.linguistics.coreference.cluster_features import FEATURES
from eval.linguistics.coreference.described_mention import describe_mentions
from eval.linguistics.coreference.entity_ranker import group_mentions
from eval.linguistics.coreference.training.examples import (
    CoreferenceText,
    annotated_examples,
    label_text,
    ranked_examples,
)
from eval.linguistics.literary.litbank import LitBankDocument
from eval.linguistics.literary.training.examples import LabelledText

pytestmark = pytest.mark.torch

WORDS = "Mira saw Sam . She called him . Mira left .".split()
TAGS = "NNP VBD NNP . PRP VBD PRP . NNP VBD .".split()
SPANS = {(0, 1): "name PER", (2, 3): "name PER", (4, 5): "pronoun", (6, 7): "pronoun", (8, 9): "name PER"}
STORY = CoreferenceText(describe_mentions(WORDS, TAGS, [0, 4, 8], SPANS), (0, 1, 0, 1, 0))


def test_a_mention_in_no_cluster_is_an_entity_of_its_own() -> None:
    document = LitBankDocument("d", tuple(WORDS), (0, 4, 8), {}, (((0, 1), (4, 5), (8, 9)), ((6, 7),)))
    labelled = label_text(document, LabelledText(WORDS, TAGS, {}, SPANS))
    mira, sam, she, him, again = labelled.entities
    assert mira == she == again
    assert len({mira, sam, him}) == 3


def test_the_right_row_is_the_entity_of_the_mention_or_the_last_for_a_new_one() -> None:
    examples = annotated_examples(STORY)
    assert examples.sizes.tolist() == [1, 2, 3, 3, 3]
    assert examples.right.tolist() == [0, 1, 0, 1, 0]
    assert examples.rows.shape == (12, FEATURES)


def test_after_mistakes_the_right_row_is_where_most_of_the_entity_went() -> None:
    pytest.importorskip("torch")
    from eval.linguistics.coreference.training.fit import RankerNetwork, RankerSettings

    weights = RankerNetwork(RankerSettings(width=4)).weights()
    zero = {name: np.zeros_like(value) for name, value in weights.items()}
    examples = ranked_examples(STORY, zero)  # all scores are equal: everything joins the first entity
    assert examples.sizes.tolist() == [1, 2, 2, 2, 2]
    assert examples.right.tolist() == [0, 1, 0, 0, 0]  # Sam is new at first; then all are in the first


def test_the_loss_is_that_of_a_softmax_over_the_rows_of_each_mention() -> None:
    torch = pytest.importorskip("torch")
    from eval.linguistics.coreference.training.fit import ranking_loss

    scores, owner = torch.tensor([1.0, 2.0, 0.5]), torch.tensor([0, 0, 1])
    expected = (np.log(1 + np.exp(-1.0)) + 0) / 2  # by hand: the second row of the first, the only row of the second
    assert float(ranking_loss(scores, owner, torch.tensor([1, 2]))) == pytest.approx(expected)


def test_it_learns_a_story_by_heart_and_the_same_settings_give_the_same_weights() -> None:
    pytest.importorskip("torch")
    from eval.linguistics.coreference.training.fit import RankerSettings, fit_ranker

    settings = RankerSettings(epochs=60, width=16, dropout=0.0, rate=1e-2)
    weights, again = (fit_ranker([STORY], settings=settings, report=lambda _: None) for _ in range(2))
    assert group_mentions(weights, STORY.text) == [[0, 2, 4], [1, 3]]
    assert all(np.array_equal(weights[name], again[name]) for name in weights)
