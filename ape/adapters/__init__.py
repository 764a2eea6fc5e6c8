"""Adapters: what a directory has to hold before a server sees it, and which base model it belongs to."""

from ape.adapters.base import Base, read_base
from ape.adapters.card import CARD, BaseCard, Card, amend_card, read_card, write_card
from ape.adapters.directory import Adapter, adapters_in, locate, read_adapter, snapshot

__all__ = [
    "CARD",
    "Adapter",
    "Base",
    "BaseCard",
    "Card",
    "adapters_in",
    "amend_card",
    "locate",
    "read_adapter",
    "read_base",
    "read_card",
    "snapshot",
    "write_card",
]
