"""The cast of a passage in words for a model, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable

from ape.passage.segment import CastMember
from ape.text.token_estimate import estimate_tokens

# A small model loses the passage behind a long list; this is about twenty names.
MAX_CAST_TOKENS = 300
_PRONOUNS = {"female": "she", "male": "he", "neuter": "it"}


def cast_within_budget(cast: Iterable[CastMember]) -> list[CastMember]:
    """The members that fit into the budget: those of the passage first, then those of the paragraphs before."""
    chosen: list[CastMember] = []
    tokens = 0.0
    for member in sorted(cast, key=lambda one: not one.in_passage):
        if not member.wording:
            continue
        tokens += estimate_tokens(f"{member.source} = {member.wording} ({member.gender})").high
        if tokens > MAX_CAST_TOKENS:
            break
        chosen.append(member)
    return chosen


def known_pronouns(cast: Iterable[CastMember]) -> tuple[tuple[str, str], ...]:
    """The name and the pronoun of each member whose gender is known."""
    known = {member.wording: _PRONOUNS[member.gender] for member in cast if member.gender in _PRONOUNS}
    return tuple(known.items())
