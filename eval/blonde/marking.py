"""Where BlonDe is lost: the words of a type that one side of a line has more often than the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal, NamedTuple

from eval.annotate import Annotation
from eval.blonde.folding import Weights
from eval.blonde.types import CATEGORIES, ENTITY_OF, MARKER_OF, PRONOUN_OF, TENSE_OF
from eval.metric import Mark

_LONGEST = max(map(len, MARKER_OF))


class Item(NamedTuple):
    """What is counted together: a type of a category, and for a name its words."""

    category: str
    type: int
    words: str = ""


def differences(
    document: str, segment: int, output: Annotation, reference: Annotation, weights: Weights
) -> Iterator[Mark]:
    """What the output lost of the reference, and what it added: the last ones of those that are too many."""
    lost, added = occurrences(reference), occurrences(output)
    for item in dict.fromkeys((*lost, *added)):
        if not weights.of(item.category)[item.type]:
            continue
        fewer, more = len(added[item]), len(lost[item])
        note = f"{item.category}: {CATEGORIES[item.category][item.type]}"
        for start, end in lost[item][fewer:]:
            yield _mark(document, segment, "reference", (start, end), note)
        for start, end in added[item][more:]:
            yield _mark(document, segment, "output", (start, end), note)


def _mark(
    document: str, segment: int, side: Literal["reference", "output"], span: tuple[int, int], note: str
) -> Mark:
    return Mark(document, segment, side, *span, "lost" if side == "reference" else "added", note)


def occurrences(one: Annotation) -> defaultdict[Item, list[tuple[int, int]]]:
    """Where each item stands."""
    found: defaultdict[Item, list[tuple[int, int]]] = defaultdict(list)
    small = [token.text.lower() for token in one.tokens]
    for place, token in enumerate(one.tokens):
        if token.tag in TENSE_OF:
            found[Item("tense", TENSE_OF[token.tag])].append((token.start, token.end))
        if small[place] in PRONOUN_OF:
            found[Item("pronoun", PRONOUN_OF[small[place]])].append((token.start, token.end))
        for length in range(1, _LONGEST + 1):
            kind = MARKER_OF.get(tuple(small[place : place + length]))
            if kind is not None and place + length <= len(small):
                found[Item("dm", kind)].append((token.start, one.tokens[place + length - 1].end))
    for entity in one.entities:
        if entity.label in ENTITY_OF:
            found[Item("entity", ENTITY_OF[entity.label], entity.text)].append((entity.start, entity.end))
    return found
