"""Score a system on a mined set by the outcome of each item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators.protocol import Annotation, Annotator
from eval.metrics.dip.connectives import find_connective_candidates, find_connectives, match_connectives
from eval.metrics.dip.consistency import CONSISTENCY_VERDICTS, ConsistencyChain, judge_chain
from eval.metrics.dip.pronouns import PRONOUN_OUTCOMES, compare_pronouns
from eval.metrics.metric import metric_signature
from eval.statistics.counts import Fold, MetricCounts, Unmeasured, share_fold
from eval.suites.dip.mined_set import MINED_PHENOMENA, MinedItem, MinedPhenomenon, MinedSet


def score_mined_set(
    mined: MinedSet, outputs: Mapping[str, Sequence[str]], *, annotator: Annotator | None = None
) -> dict[MinedPhenomenon, MetricCounts | Unmeasured]:
    """For each phenomenon, one row for each item, with the paper's scores folded from them.

    `outputs` has, for each item id, one text for each source segment. Only the tested feature is scored.
    """
    if annotator is None:
        from eval.linguistics.annotators import annotator_for

        annotator = annotator_for(str(mined.manifest.get("target_language", "en")))
    known = _annotated(mined, outputs, annotator)
    documents = {name: place for place, name in enumerate(dict.fromkeys(item.document for item in mined.items))}
    scored: dict[MinedPhenomenon, MetricCounts | Unmeasured] = {}
    for phenomenon in MINED_PHENOMENA:
        items = mined.items_of(phenomenon)
        signature = metric_signature(f"dip-mined-{phenomenon}", set=mined.fingerprint[:8], annotator=annotator.name)
        if not items:
            scored[phenomenon] = Unmeasured(f"the set has no item of {phenomenon}", signature)
            continue
        rows = np.array([_row(item, outputs[item.id], known) for item in items], dtype=np.float64)
        fold, parts = _FOLDS[phenomenon]
        index = np.array([documents[item.document] for item in items], dtype=np.intp)
        scored[phenomenon] = MetricCounts(rows, index, fold, signature, parts=parts)
    return scored


def mined_set_outputs(mined: MinedSet, corpus: Corpus, system: str) -> dict[str, tuple[str, ...]]:
    """The outputs of a system in a corpus of the same documents, by item."""
    by_id = {one.id: one.outputs[system] for one in corpus.documents if system in one.outputs}
    outputs = {}
    for item in mined.items:
        texts = by_id.get(item.document, ())[item.segment : item.segment + len(item.sources)]
        if len(texts) != len(item.sources):
            raise InputError(f"System {system!r} has no segments for item {item.id!r} of the mined set.")
        outputs[item.id] = texts
    return outputs


def _annotated(mined: MinedSet, outputs: Mapping[str, Sequence[str]], annotator: Annotator) -> dict[str, Annotation]:
    """Annotate all needed texts in one batch."""
    texts: dict[str, None] = {}
    for item in mined.items:
        given = outputs.get(item.id)
        if given is None:
            raise InputError(f"There is no output for item {item.id!r} of the mined set.")
        if len(given) != len(item.sources):
            raise InputError(
                f"Item {item.id!r} of the mined set has {len(item.sources)} source segments, and its output has "
                f"{len(given)}."
            )
        texts.update(dict.fromkeys((*item.references, *given)))
    return dict(zip(texts, annotator.annotate(list(texts)), strict=True))


def _row(item: MinedItem, texts: Sequence[str], known: Mapping[str, Annotation]) -> list[float]:
    """The outcome of the item as a one-hot row."""
    references, outputs = ([known[text] for text in side] for side in (item.references, texts))
    if item.phenomenon == "consistency":
        verdict = judge_chain(_chain(item, references), outputs)
        return [float(verdict == one) for one in CONSISTENCY_VERDICTS]
    if item.phenomenon == "connectives":
        return _connective_row(item, references[0], outputs[0])
    outcomes = [
        one.outcome for one in compare_pronouns(references[0], outputs[0]) if one.reference_pronoun.start == item.start
    ]
    return [float(outcome == one) for one in PRONOUN_OUTCOMES for outcome in outcomes or _unknown(item)]


def _chain(item: MinedItem, references: Sequence[Annotation]) -> ConsistencyChain:
    """The chain as it was mined, with the forms in the reference."""
    tokens = (token for one in references for token in one.tokens)
    forms = {token.text.lower() for token in tokens if token.lemma.lower() == item.word}
    return ConsistencyChain(item.word, 0, item.times, frozenset(forms))


def _connective_row(item: MinedItem, reference: Annotation, output: Annotation) -> list[float]:
    uses = {use.start: use for use in find_connectives(reference)}
    # Another annotator may not find discourse use there; the item still counts.
    uses |= {use.start: use for use in find_connective_candidates(reference) if use.start == item.start}
    if item.start not in uses:
        _unknown(item)
    in_order = [uses[start] for start in sorted(uses)]
    match = next(
        one
        for one in match_connectives(in_order, find_connective_candidates(output))
        if one.reference_use.start == item.start
    )
    return [1.0, float(match.is_same), float(match.output_use is not None)]


def _unknown(item: MinedItem) -> list[str]:
    raise InputError(
        f"Item {item.id!r} tests {item.word!r} at character {item.start} of its reference, and it is not there."
    )


_per_cent = partial(share_fold, scale=100)


_FOLDS: Mapping[MinedPhenomenon, tuple[Fold, Mapping[str, Fold]]] = {
    "consistency": (_per_cent([0], [0, 1]), {"con": _per_cent([0], [0, 1]), "full": _per_cent([0], [0, 1, 2])}),
    "connectives": (_per_cent([1], [0]), {"acc": _per_cent([1], [0]), "any": _per_cent([2], [0])}),
    "pronouns": (
        _per_cent([0, 1], [0, 1, 2, 3]),
        {"mismatch": _per_cent([2], [0, 1, 2, 3]), "lost": _per_cent([3], [0, 1, 2, 3])},
    ),
}
