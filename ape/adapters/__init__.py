"""LoRA adapters: their directories, cards and base models."""

from ape.adapters.base_model import AdapterBase, read_base
from ape.adapters.card import CARD_FILE, AdapterCard, AdapterCardBase, amend_card, read_card, write_card
from ape.adapters.directory import Adapter, list_adapters, locate_adapter, read_adapter, snapshot_adapter

__all__ = [
    "CARD_FILE",
    "Adapter",
    "AdapterBase",
    "AdapterCard",
    "AdapterCardBase",
    "amend_card",
    "list_adapters",
    "locate_adapter",
    "read_adapter",
    "read_base",
    "read_card",
    "snapshot_adapter",
    "write_card",
]
