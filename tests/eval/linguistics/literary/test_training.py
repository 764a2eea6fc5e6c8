"""The trained network is the same in torch and in numpy, and training is deterministic."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch

from eval.linguistics.literary.reading import WordsReading, read_words  # noqa: E402
from eval.linguistics.literary.training.encoder import Encoder  # noqa: E402
from eval.linguistics.literary.training.examples import LabelledText, make_batch, ontonotes_names  # noqa: E402
from eval.linguistics.literary.training.fit import FitSettings, fit_network, word_states  # noqa: E402
from eval.linguistics.literary.training.folds import all_weights  # noqa: E402
from eval.linguistics.literary.training.measures import ReadingCounts, count_reading  # noqa: E402
from eval.linguistics.literary.training.torch_network import LiteraryNetwork, is_of_encoder  # noqa: E402
from eval.linguistics.literary.weights import LiteraryModel, load_model, round_to_8_bits, save_weights  # noqa: E402

STRETCHES = [
    LabelledText(["Anna", "ran", "."], ["NNP", "VBD", "."], {(0, 1): "PER"}, {(0, 1): "name PER"}),
    LabelledText(["The", "cat", "slept"], ["DT", "NN", "VBD"], {}),
]


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Such small batches are quicker on one thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    model = load_model()
    return Encoder({name: values for name, values in model.weights.items() if is_of_encoder(name)}, model.pieces)


def test_torch_and_numpy_agree(encoder: Encoder) -> None:
    torch.manual_seed(1)
    network = LiteraryNetwork(encoder.weights).eval()
    batch = make_batch(STRETCHES, encoder.pieces)
    with torch.no_grad():
        expected = word_states(network, batch).numpy()
    model = LiteraryModel({name: values.numpy() for name, values in network.state_dict().items()}, encoder.pieces, "")
    found = read_words(model, [(one.words, one.sentences) for one in STRETCHES])
    is_word = batch.is_word[:, 0].numpy() > 0
    np.testing.assert_allclose(np.concatenate([one.states for one in found]), expected[is_word], atol=1e-4)


def test_training_twice_gives_the_same_weights_and_learns_its_texts(encoder: Encoder) -> None:
    settings = FitSettings(epochs=40)
    reports: list[str] = []
    networks = [fit_network(encoder, STRETCHES, settings=settings, report=reports.append) for _ in range(2)]
    first, second = (network.state_dict() for network in networks)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["layer0.query.weight"], torch.from_numpy(encoder.weights["layer0.query.weight"]))
    model = LiteraryModel(all_weights(networks[0]), encoder.pieces, "")
    for one, found in zip(STRETCHES, read_words(model, [(one.words, (0,)) for one in STRETCHES]), strict=True):
        assert found.tags == one.tags
        assert found.names == one.names


def test_stored_weights_are_the_rounded_ones(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(3, 5)).astype(np.float32)
    weights = {"matrix": values, "bias": values[0]}
    for name in ("a.npz", "b.npz"):
        save_weights(tmp_path / name, weights, ["[UNK]", "é"])
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    model = load_model(tmp_path / "a.npz")
    np.testing.assert_array_equal(model.weights["matrix"], round_to_8_bits(values))
    np.testing.assert_array_equal(model.weights["bias"], values[0])
    assert model.pieces.vocabulary == ["[UNK]", "é"]
    assert np.abs(model.weights["matrix"] - values).max() <= np.abs(values).max() / 127


def test_names_by_ontonotes_get_their_titles_and_lose_articles() -> None:
    words = "the Hague , said Mr. Smith 's aunt in 1990".split()
    entities = [(0, 2, "GPE"), (5, 7, "PERSON"), (9, 10, "DATE")]
    assert ontonotes_names(words, entities) == {(1, 2): "GPE", (4, 6): "PER"}


def test_precision_and_recall_count_equal_spans() -> None:
    counts: ReadingCounts = {}
    reading = WordsReading(["NNP", "VBN", "."], {(0, 1): "PER", (1, 2): "PER"}, {}, np.zeros((3, 1), np.float32))
    count_reading(counts, STRETCHES[0], reading)
    assert counts["names PER"] == (1, 2, 1)
    assert counts["tags"] == (2, 3, 3)
    assert counts["tense"] == (0, 1, 1)
    assert counts["mentions"] == (0, 0, 1)
