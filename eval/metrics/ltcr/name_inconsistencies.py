"""Names that a system renders in several ways, the worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eval.metrics.ltcr.inconsistency import Inconsistency


def worst_names(listed: Sequence[Inconsistency], most: int = 10) -> list[Inconsistency]:
    """The names with the most pairs of different renderings.

    An occurrence without a rendering does not count: a pronoun may replace a name. Two words that always follow each
    other are one name, which the annotator cut in two.
    """
    names = [one for one in listed if one.is_name and one.clashes]
    seconds = {id(other): one for one in names for other in names if _always_follows(one, other)}
    firsts = {id(one): other for other in names if (one := seconds.get(id(other)))}
    joined = [_joined(one, firsts.get(id(one))) for one in names if id(one) not in seconds]
    return sorted(joined, key=lambda one: (-one.clashes, one.document, one.word))[:most]


def _always_follows(one: Inconsistency, other: Inconsistency) -> bool:
    """Whether the other word directly follows the first at every occurrence of either."""
    return one.document == other.document and [(use.segment, use.at[1]) for use in one.occurrences] == [
        (use.segment, use.at[0]) for use in other.occurrences
    ]


def _joined(one: Inconsistency, other: Inconsistency | None) -> Inconsistency:
    """Join two words into one, with the renderings of the first, which cover the whole name."""
    if other is None:
        return one
    pairs = zip(one.occurrences, other.occurrences, strict=True)
    occurrences = tuple(replace(first, at=(first.at[0], second.at[1])) for first, second in pairs)
    return replace(one, word=one.word + other.word, occurrences=occurrences)
