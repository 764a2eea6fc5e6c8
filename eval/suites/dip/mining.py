"""Mine a test set: passages where real systems fail against the reference.

Such a set has real text, tests what is hard for current systems, and can be renewed. A failure is an inconsistent
chain, a connective without a match, or a pronoun replaced by one that can not stand for it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators.protocol import Annotator
from eval.metrics.dip.annotated_sides import dip_annotator_or_unmeasured
from eval.metrics.dip.connectives import match_system_connectives
from eval.metrics.dip.consistency import find_chain_occurrences, judge_system_chains
from eval.metrics.dip.pronouns import compare_system_pronouns
from eval.statistics.counts import Unmeasured
from eval.suites.dip.mined_set import MINED_PHENOMENA, MinedItem, MinedPhenomenon, MinedSet

CONTEXT_SEGMENTS = 2
"""Segments of context before the tested one, as in the paper."""


@dataclass(frozen=True, slots=True, order=True)
class _Place:
    """The place of a tested feature; failures of several systems there are one item."""

    document: int
    reference: int
    start_segment: int
    end_segment: int
    start: int
    word: str
    times: int = 1


def mine_test_set(
    corpus: Corpus,
    *,
    phenomena: Sequence[MinedPhenomenon] = MINED_PHENOMENA,
    systems: Sequence[str] = (),
    at_least: int = 1,
    limit: int | None = None,
    seed: int = 1,
    annotator: Annotator | None = None,
) -> MinedSet:
    """Passages at which at least that many systems fail; a random sample of at most `limit` for each phenomenon."""
    corpus = corpus.without_pronoun_marks()
    named = tuple(systems) or corpus.systems
    _check(corpus, phenomena, named, at_least, limit)
    found = dip_annotator_or_unmeasured(corpus, ("en",), what="Mining", annotator=annotator)
    if isinstance(found, Unmeasured):
        raise InputError(f"Nothing can be mined: {found.why}.")
    items: list[MinedItem] = []
    seen: dict[str, int] = {}
    for phenomenon in sorted(set(phenomena), key=MINED_PHENOMENA.index):
        failed: dict[_Place, dict[str, str]] = {}
        for system in named:
            for place, wrote in _failures(corpus, system, phenomenon, found):
                failed.setdefault(place, {})[system] = wrote
        places = sorted(place for place, who in failed.items() if len(who) >= at_least)
        seen[phenomenon] = len(places)
        if limit is not None and len(places) > limit:
            places = sorted(random.Random(f"{seed} {phenomenon}").sample(places, limit))  # noqa: S311  # not for security
        items += [_item(corpus, phenomenon, place, failed[place]) for place in places]
    manifest = {
        "version": 1,
        "ape": metadata.version("ape-books"),
        "corpus": corpus.name,
        "corpus_sha256": _hash(corpus, named),
        "source_language": corpus.source_language,
        "target_language": corpus.target_language,
        "systems": list(named),
        "at_least": at_least,
        "limit": limit,
        "seed": seed,
        "context": CONTEXT_SEGMENTS,
        "annotator": found.name,
        "found": seen,
    }
    return MinedSet(tuple(items), manifest)


def _failures(
    corpus: Corpus, system: str, phenomenon: MinedPhenomenon, annotator: Annotator
) -> Iterator[tuple[_Place, str]]:
    """Where a system fails, and what it wrote."""
    index = {one.id: place for place, one in enumerate(corpus.documents)}
    if phenomenon == "consistency":
        for side, block, chain, verdict in judge_system_chains(corpus, system, annotator):
            if verdict == "inconsistent" and None not in side.references[block.start : block.stop]:
                where = (index[side.id], side.reference, block.start, block.stop)
                there = len(find_chain_occurrences(chain, [side.outputs[segment] for segment in block]))
                yield _Place(*where, 0, chain.lemma, chain.times), f"{there} of {chain.times}"
    elif phenomenon == "connectives":
        for side, segment, match in match_system_connectives(corpus, system, annotator):
            if match.output_use is None:
                where = (index[side.id], side.reference, segment, segment + 1)
                yield _Place(*where, match.reference_use.start, match.reference_use.name), ""
    else:
        for side, segment, one in compare_system_pronouns(corpus, system, annotator):
            if one.outcome == "wrong" and one.output_pronoun is not None:
                where = (index[side.id], side.reference, segment, segment + 1)
                yield (_Place(*where, one.reference_pronoun.start, one.reference_pronoun.text), one.output_pronoun.text)


def _item(corpus: Corpus, phenomenon: MinedPhenomenon, place: _Place, failed: Mapping[str, str]) -> MinedItem:
    document = corpus.documents[place.document]
    here = slice(place.start_segment, place.end_segment)
    before = slice(max(0, place.start_segment - CONTEXT_SEGMENTS), place.start_segment)
    return MinedItem(
        id=f"{phenomenon}/{document.id}/{place.reference + 1}/{place.start_segment}/{place.start}/{place.word}",
        phenomenon=phenomenon,
        document=document.id,
        segment=place.start_segment,
        sources=document.sources[here],
        references=_reference(document, place.reference, here),
        source_context=document.sources[before],
        reference_context=_reference(document, place.reference, before),
        word=place.word,
        start=place.start,
        times=place.times,
        failed=dict(failed),
    )


def _reference(document: Document, number: int, which: slice) -> tuple[str, ...]:
    return tuple(text or "" for text in document.references[number][which])


def _check(corpus: Corpus, phenomena: Sequence[str], systems: Sequence[str], at_least: int, limit: int | None) -> None:
    if unknown := [name for name in phenomena if name not in MINED_PHENOMENA]:
        raise InputError(
            f"{unknown[0]!r} can't be mined. Choose from: {', '.join(MINED_PHENOMENA)}.", field="phenomenon"
        )
    if unknown := [name for name in systems if name not in corpus.systems]:
        raise InputError(
            f"There is no system called {unknown[0]!r}. There are: {', '.join(corpus.systems)}.", field="system"
        )
    if not 1 <= at_least <= len(systems):
        raise InputError(
            f"The number of failing systems can't be {at_least}: give a number from 1 to {len(systems)}.",
            field="at_least",
        )
    if limit is not None and limit < 1:
        raise InputError(f"The limit can't be {limit}: give at least 1.", field="limit")
    if without := [one.id for one in corpus.documents if not one.sources]:
        raise InputError(f"A mined set needs sources, and document {without[0]!r} has none.", field="source")


def _hash(corpus: Corpus, systems: Sequence[str]) -> str:
    digest = sha256()
    for one in corpus.documents:
        texts = (one.id, one.sources, one.references, [one.outputs[system] for system in systems])
        digest.update(json.dumps(texts, ensure_ascii=False).encode(errors="replace") + b"\n")
    return digest.hexdigest()
