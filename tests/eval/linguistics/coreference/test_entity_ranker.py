"""The ranker of mentions and entities, with made-up weights and with its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ape.errors import InputError
from eval.linguistics.coreference.cluster_features import FEATURES, EntityClusters
from eval.linguistics.coreference.described_mention import describe_mentions
from eval.linguistics.coreference.entity_ranker import entity_scores, group_mentions, load_ranker, save_ranker

WORDS = "Mira saw Sam . She called him . Mira left .".split()
TAGS = "NNP VBD NNP . PRP VBD PRP . NNP VBD .".split()
SPANS = {(0, 1): "name PER", (2, 3): "name PER", (4, 5): "pronoun", (6, 7): "pronoun", (8, 9): "name PER"}
TEXT = describe_mentions(WORDS, TAGS, [0, 4, 8], SPANS)


def weights(new: float) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    """Weights that look only at the first feature, which marks the choice of a new entity."""
    first = np.zeros((2, FEATURES), np.float32)
    first[0, 0] = 1
    return {
        "first.weight": first,
        "first.bias": np.zeros(2, np.float32),
        "second.weight": np.eye(2, dtype=np.float32),
        "second.bias": np.zeros(2, np.float32),
        "last.weight": np.array([[new, 0]], np.float32),
        "last.bias": np.zeros(1, np.float32),
    }


def test_the_choice_with_the_highest_score_is_taken() -> None:
    assert group_mentions(weights(1), TEXT) == [[0], [1], [2], [3], [4]]
    assert group_mentions(weights(-1), TEXT) == [[0, 1, 2, 3, 4]]


def test_there_is_one_row_for_each_entity_and_one_for_a_new_one() -> None:
    clusters = EntityClusters(TEXT)
    assert clusters.features(0).shape == (1, FEATURES)
    clusters.add(0, 0)
    clusters.add(1, 1)
    rows = clusters.features(2)
    assert rows.shape == (3, FEATURES)
    assert rows[:, 0].tolist() == [0, 0, 1]
    assert np.isfinite(rows).all()


def test_a_name_matches_the_entity_that_has_it() -> None:
    clusters = EntityClusters(TEXT)
    for place, entity in enumerate((0, 1, 0, 1)):
        clusters.add(place, entity)
    mira, sam, _ = clusters.features(4)
    assert mira.sum() != sam.sum()
    fits, distance = clusters.fitting(TEXT.mentions[2])
    assert fits.tolist() == [True, False]  # she: Mira, who was called she, and not Sam, who was called him
    assert distance.tolist() == [0, 0]


def test_saved_weights_are_read_back_and_equal_ones_make_equal_bytes(tmp_path: Path) -> None:
    for name in ("one.npz", "two.npz"):
        save_ranker(tmp_path / name, weights(1))
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    again = load_ranker(tmp_path / "one.npz").weights
    rows = np.random.default_rng(1).random((5, FEATURES)).astype(np.float32)
    np.testing.assert_array_equal(entity_scores(again, rows), entity_scores(weights(1), rows))


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive"])
def test_damaged_weights_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.npz").write_bytes(content)
    with pytest.raises(InputError, match="can't be read as weights of the coreference ranker"):
        load_ranker(tmp_path / "bad.npz")


def test_weights_of_other_features_are_refused(tmp_path: Path) -> None:
    save_ranker(tmp_path / "old.npz", {**weights(1), "first.weight": np.zeros((2, 3), np.float32)})
    with pytest.raises(InputError, match="Train the ranker again"):
        load_ranker(tmp_path / "old.npz")
