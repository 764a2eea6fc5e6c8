"""Senses of connectives, finer than their classes: a cause is no condition.

A connective of several senses may stand for any of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from eval.metrics.dip.connective_rules import CONNECTIVES

_SEVERAL = {
    "and": "addition consequence sequence",
    "as": "time cause",
    "as long as": "condition time",
    "since": "time cause",
    "while": "time contrast",
    "when": "time condition",
    "whenever": "time condition",
    "once": "time condition",
    "then": "time sequence consequence condition",
    "so": "consequence cause",
    "so that": "consequence purpose",
    "for": "cause",
    "because": "cause consequence",
    "now that": "cause time",
    "therefore": "consequence",
    "still": "contrast",
    "even if": "condition contrast",
    "rather": "contrast",
    "instead": "contrast alternative",
    "rather than": "contrast alternative",
    "or": "alternative condition",
    "or else": "alternative condition",
    "otherwise": "alternative condition",
    "nor": "addition",
    "plus": "addition",
    "without": "manner",
    "by": "manner purpose",
    "in order to": "purpose",
    "as if": "manner",
    "as though": "manner",
    "if": "condition",
    "unless": "condition",
    "lest": "condition purpose",
    "in case": "condition",
    "after": "time sequence",
    "afterward": "time sequence",
    "afterwards": "time sequence",
    "next": "time sequence",
    "later": "time sequence",
    "finally": "time sequence",
    "eventually": "time sequence",
    "ultimately": "time sequence",
    "subsequently": "time sequence",
    "thereafter": "time sequence",
}
_CLASS_SENSE = ("contrast", "consequence", "time", "addition")
CONNECTIVE_SENSES: Mapping[str, frozenset[str]] = {
    name: frozenset(_SEVERAL.get(name, _CLASS_SENSE[kind]).split()) for name, (kind, _) in CONNECTIVES.items()
}
"""The senses of each connective."""
