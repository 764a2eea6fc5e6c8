"""Names of the reference that an output renders otherwise in one place than in the rest of a block.

A name chain is inconsistent where the output has the name less often. Mostly a pronoun or nothing stands there. It is
an error where the line has another name instead: one that no word of the block's reference explains, and that the
output uses, in this document, nearly only in lines whose reference has this very name. If the
source is known, its line must have the name too: what stands in most lines whose reference has the name, and in few
others. The other name must not be what the output has in most lines for it, nor a capitalised function word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from eval.linguistics.annotators.protocol import Annotation, NamedEntity
from eval.linguistics.literary.name_words import TITLES
from eval.metrics.dip.annotated_sides import AnnotatedSides
from eval.metrics.dip.consistency import (
    NAME_CLASS,
    ConsistencyChain,
    find_chain_occurrences,
    find_chains,
    judge_chain,
    sides_of_block,
    split_blocks,
)
from eval.metrics.dip.source_names import SourceNames

_FUNCTION_TAGS = frozenset({"IN", "DT", "CC", "PRP", "PRP$", "MD", "TO", "WDT", "WP", "WRB", "EX"})
_LEAST_SHARE = 0.8
_ALIKE = 50
_ADDRESSES = TITLES | {"mommy", "daddy", "mom", "dad", "commander", "sir", "teacher", "boss"}


@dataclass(frozen=True, slots=True)
class RenamedEntity:
    """A name of the reference and what the output has instead in a segment."""

    segment: int
    chain: ConsistencyChain
    entity: NamedEntity


def find_renamed(side: AnnotatedSides, language: str = "en") -> Iterator[RenamedEntity]:
    """The renamed entities of a document, in order."""
    lines, source_names, particles = _lines_by_name(side), SourceNames(side), _particles(side)
    for block in split_blocks(side.references):
        reference, output = sides_of_block(side, block)
        known = {token.text.lower() for one in reference for token in one.tokens}
        for chain in find_chains(reference, language):
            if chain.kind != NAME_CLASS or chain.lemma in _ADDRESSES or judge_chain(chain, output) != "inconsistent":
                continue
            for place in sorted(_segments(chain, reference) - _segments(chain, output)):
                names = [
                    one
                    for one in output[place].entities
                    if known.isdisjoint(one.text.lower().split())
                    and _share(chain, side, lines[one.text]) >= _LEAST_SHARE
                    and not _is_another(one.text, chain, reference[place])
                    and one.text.lower() not in particles
                    and not _is_usual(one.text, chain, side)
                ]
                if names and source_names.is_in(chain, block.start + place):
                    nearest = max(names, key=lambda one: fuzz.ratio(one.text.lower(), chain.lemma))
                    yield RenamedEntity(block.start + place, chain, nearest)


def _is_another(name: str, chain: ConsistencyChain, reference: Annotation) -> bool:
    """Whether another name of the line's reference is spelt more like it."""
    near = fuzz.ratio(name.lower(), chain.lemma)
    others = (one.text for one in reference.entities if chain.forms.isdisjoint(one.text.lower().split()))
    return any(fuzz.ratio(name.lower(), other.lower()) >= max(near, _ALIKE) for other in others)


def _is_usual(name: str, chain: ConsistencyChain, side: AnnotatedSides) -> bool:
    """Whether the output has this for the name in half of its lines or more: then that is how it calls it."""
    words, called = set(name.lower().split()), set(chain.lemma.split())
    lines = [
        words <= _words(output)
        for reference, output in zip(side.references, side.outputs, strict=True)
        if reference is not None and called <= _words(reference)
    ]
    return len(lines) > 1 and sum(lines) >= len(lines) / 2


def _words(annotation: Annotation) -> set[str]:
    return {token.text.lower() for token in annotation.tokens}


def _particles(side: AnnotatedSides) -> set[str]:
    """Lower-case words of the output with a tag of function words: with a capital they are no names."""
    tokens = (token for output in side.outputs for token in output.tokens if token.text.islower())
    return {token.text for token in tokens if token.tag in _FUNCTION_TAGS}


def _segments(chain: ConsistencyChain, block: Sequence[Annotation]) -> set[int]:
    return {place for place, _ in find_chain_occurrences(chain, block)}


def _lines_by_name(side: AnnotatedSides) -> Mapping[str, list[int]]:
    """The segments in which the output has each name."""
    found: dict[str, list[int]] = {}
    for segment, one in enumerate(side.outputs):
        for name in {entity.text for entity in one.entities}:
            found.setdefault(name, []).append(segment)
    return found


def _share(chain: ConsistencyChain, side: AnnotatedSides, segments: Sequence[int]) -> float:
    """The share of these segments whose reference has the chain's name."""
    references = [side.references[segment] for segment in segments]
    has = [one is not None and any(map(chain.has, one.tokens)) for one in references]
    return sum(has) / len(has)
