"""Marks for BlonDe: words of a type that one side of a line has more often than the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from eval.linguistics.annotators import Annotation
from eval.metrics.blonde.categories import CATEGORIES, ENTITY_OF, MARKER_OF, PRONOUN_OF, TENSE_OF
from eval.metrics.blonde.folds import BlondeWeights
from eval.metrics.metric import Mark

_LONGEST = max(map(len, MARKER_OF))


class BlondeItem(NamedTuple):
    """The unit of counting: a type of a category, with its words for a name."""

    category: str
    type: int
    words: str = ""


def mark_differences(
    document: str, segment: int, output: Annotation, reference: Annotation, weights: BlondeWeights
) -> Iterator[Mark]:
    """Mark the items that the output lost or added; of repeated items, the last ones."""
    lost, added = find_items(reference), find_items(output)
    for item in dict.fromkeys((*lost, *added)):
        if not weights.category_weights(item.category)[item.type]:
            continue
        fewer, more = len(added[item]), len(lost[item])
        note = f"{item.category}: {CATEGORIES[item.category][item.type]}"
        for start, end in lost[item][fewer:]:
            yield Mark(document, segment, "reference", start, end, "lost", note)
        for start, end in added[item][more:]:
            yield Mark(document, segment, "output", start, end, "added", note)


def find_items(annotation: Annotation) -> defaultdict[BlondeItem, list[tuple[int, int]]]:
    """The positions of each item."""
    found: defaultdict[BlondeItem, list[tuple[int, int]]] = defaultdict(list)
    small = [token.text.lower() for token in annotation.tokens]
    for place, token in enumerate(annotation.tokens):
        if token.tag in TENSE_OF:
            found[BlondeItem("tense", TENSE_OF[token.tag])].append((token.start, token.end))
        if small[place] in PRONOUN_OF:
            found[BlondeItem("pronoun", PRONOUN_OF[small[place]])].append((token.start, token.end))
        for length in range(1, _LONGEST + 1):
            kind = MARKER_OF.get(tuple(small[place : place + length]))
            if kind is not None and place + length <= len(small):
                found[BlondeItem("dm", kind)].append((token.start, annotation.tokens[place + length - 1].end))
    for entity in annotation.entities:
        if entity.label in ENTITY_OF:
            found[BlondeItem("entity", ENTITY_OF[entity.label], entity.text)].append((entity.start, entity.end))
    return found
