"""Merged models: base models with an adapter merged into their weights, and the card of that adapter.

A server does not report the prompt format that the adapter was trained in, so the card is read from the directory of
the model or of the GGUF file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ape.adapters.card import CARD_FILE, AdapterCard, read_card
from ape.adapters.directory import CONFIG_FILE
from ape.engines.protocol import Model
from ape.errors import AdapterRefused
from ape.models.profile import ModelProfile


def read_merged_card(directory: Path) -> AdapterCard | None:
    """The card of the merged model in a directory, or None. The card of an unmerged adapter does not count."""
    is_model = (directory / "config.json").is_file() and not (directory / CONFIG_FILE).exists()
    if not is_model or not (directory / CARD_FILE).is_file():
        return None
    try:
        card = read_card(directory)
        _ = card.format
    except AdapterRefused as error:
        raise AdapterRefused(f"The merged model {directory} can't be served. {error}") from error
    return card


def apply_card(model: Model, card: AdapterCard | None) -> Model:
    """The model with the prompt format, edit filter and languages of its card, if any."""
    if card is None:
        return model
    return replace(model, format=card.format, edit_filter=card.gate, languages=card.languages)


def apply_profile(model: Model, profile: ModelProfile | None) -> Model:
    """The model with the prompt format and edit filter of its profile, if any; both are part of its revision."""
    if profile is None:
        return model
    revision = f"{model.revision}+{profile.revision}"
    return replace(model, format=profile.format, edit_filter=profile.edit_filter, revision=revision)
