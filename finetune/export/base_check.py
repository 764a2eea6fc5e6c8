"""Whether a base is the one that an adapter was trained on."""

from __future__ import annotations

from ape.adapters import AdapterCard, AdapterCardBase
from ape.errors import AdapterRefused


def require_same_base(card: AdapterCard, base: AdapterCardBase) -> None:
    """AdapterRefused unless both are the same weights, as far as that can be told."""
    theirs = card.base
    if theirs.fingerprint and base.fingerprint and theirs.fingerprint != base.fingerprint:
        raise AdapterRefused(
            f"It was trained on {theirs.model} ({theirs.fingerprint}), and {base.model} ({base.fingerprint}) is "
            "another model. Give the right one with --base."
        )
