"""A merged model: an ordinary one, beside which lies the card of the adapter that went into it.

It has learned a format as the adapter had, and no server says so. So the card is looked for where the model lies: in
its directory, or beside a GGUF file that was made there.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ape.adapters.card import CARD_FILE, AdapterCard, read_card
from ape.adapters.directory import CONFIG_FILE
from ape.engines.protocol import Model
from ape.errors import AdapterRefused


def read_merged_card(directory: Path) -> AdapterCard | None:
    """The card of the merged model in that directory. An adapter's own says nothing of a base that lies beside it."""
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
    """The model as its card says that it is to be asked; without one, as it was."""
    if card is None:
        return model
    return replace(model, format=card.format, edit_filter=card.gate, languages=card.languages)
