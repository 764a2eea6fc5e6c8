"""Training on all excerpts of LitBank, or on four fifths of them with measurements on the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eval.linguistics.literary.network import Floats
from eval.linguistics.literary.reading import read_words
from eval.linguistics.literary.training.encoder import Encoder, read_encoder
from eval.linguistics.literary.training.examples import LabelledText
from eval.linguistics.literary.training.fit import FitSettings, fit_network
from eval.linguistics.literary.training.measures import ReadingCounts, count_reading, describe_counts
from eval.linguistics.literary.training.silver import read_stretches
from eval.linguistics.literary.training.torch_network import LiteraryNetwork
from eval.linguistics.literary.weights import LiteraryModel, load_model, round_to_8_bits, save_weights

FOLDS = 5


@dataclass(frozen=True, slots=True)
class TrainingInputs:
    """The texts with their labels, the encoder, and the settings."""

    excerpts: Sequence[LabelledText]
    others: Sequence[LabelledText]
    encoder: Encoder
    settings: FitSettings


def read_inputs(litbank: Path, tags: Path, encoder: Path, settings: FitSettings) -> TrainingInputs:
    """Read all texts and the encoder."""
    documents, others = read_stretches(litbank, tags)
    return TrainingInputs([stretch for _, stretch in documents], others, read_encoder(encoder), settings)


def fit_weights(
    inputs: TrainingInputs, output: Path, *, without: int | None = None, report: Callable[[str], None] = print
) -> None:
    """Train on everything, or on all but one fold, and write the weights."""
    network = fit_network(inputs.encoder, _rest(inputs, without), settings=inputs.settings, report=report)
    save_weights(output, all_weights(network), list(inputs.encoder.pieces.vocabulary))


def check_folds(
    inputs: TrainingInputs,
    chosen: Iterable[int],
    *,
    save: Path | None = None,
    load: Path | None = None,
    report: Callable[[str], None] = print,
) -> str:
    """Train without each chosen fold, and measure on it: a table over all of them.

    `save` is a folder for the weights of each fold, `load` one that has them already.
    """
    counts: ReadingCounts = {}
    for fold in chosen:
        if load is not None:
            model = load_model(load / f"fold-{fold}.npz")
        else:
            network = fit_network(inputs.encoder, _rest(inputs, fold), settings=inputs.settings, report=report)
            model = LiteraryModel(all_weights(network), inputs.encoder.pieces, "check")
        if save is not None:
            save_weights(save / f"fold-{fold}.npz", model.weights, list(inputs.encoder.pieces.vocabulary))
        texts = inputs.excerpts[fold::FOLDS]
        for text, reading in zip(texts, read_words(model, [(one.words, one.sentences) for one in texts]), strict=True):
            count_reading(counts, text, reading)
    return describe_counts(counts)


def all_weights(network: LiteraryNetwork) -> dict[str, Floats]:
    """The weights, as they are after storage."""
    found = {name: np.asarray(values.detach().numpy(), np.float32) for name, values in network.state_dict().items()}
    return {name: round_to_8_bits(values) for name, values in found.items()}


def _rest(inputs: TrainingInputs, without: int | None) -> list[LabelledText]:
    """All texts but the excerpts of one fold."""
    kept = [text for place, text in enumerate(inputs.excerpts) if place % FOLDS != without]
    return [*kept, *inputs.others]
