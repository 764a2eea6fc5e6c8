"""Coherence: a scorer trained to prefer a reference to its MT, or to its own sentences in another order.

It detects sentence order: on held-out texts it ranks the original above its shuffled copy in .79 to .85 of the pairs,
but a human text above an MT of the same sentences in .50 to .59 only (three published sets), little more than chance.
Do not read a small difference between two translations as a difference in coherence.

A system's score is the sum over documents of score(reference) − score(system): lower is better, and the reference
itself gets 0. Without a trained scorer, each document is scored by one that learned sentence order from the references
of the other documents, so that no document is judged by a scorer that saw it. All references of a document are held
out together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from ape.errors import InputError
from ape.files.hashing import hash_text
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators.protocol import Annotation, Annotator
from eval.metrics.counts_cache import count_once
from eval.metrics.dip import ranker
from eval.metrics.dip.annotated_sides import AnnotatedSides, annotate_sides, dip_annotator_or_unmeasured
from eval.metrics.dip.cohesion import COHESION_FEATURES, CohesionSentence, cohesion_features, cohesion_sentences
from eval.metrics.dip.ranker import RankedPairs, Ranker
from eval.metrics.metric import metric_signature
from eval.statistics.counts import FloatArray, MetricCounts, Unmeasured, mean_fold

LANGUAGES = ("en",)
SCORER_KIND = "coherence"
PASSAGE_SENTENCES = 12
"""Segments in a passage."""
SHUFFLES = 10
"""Shuffled orders to learn from, for each passage."""
MIN_SENTENCES = 3
"""The fewest sentences whose order is informative."""
NegativeExamples: TypeAlias = Literal["mt", "shuffled"]
_Texts: TypeAlias = Sequence[Annotation | None]


def load_coherence_scorer(path: Path) -> Ranker:
    """Load a saved scorer."""
    return ranker.load_ranker(path, kind=SCORER_KIND, features=COHESION_FEATURES)


def train_coherence_scorer(
    corpus: Corpus,
    *,
    against: NegativeExamples = "mt",
    systems: Sequence[str] = (),
    seed: int = 1,
    annotator: Annotator | None = None,
) -> Ranker:
    """Train a scorer on the references of a corpus; its metadata has the accuracy on held-out documents."""
    found = dip_annotator_or_unmeasured(corpus, LANGUAGES, what="Coherence", annotator=annotator)
    if isinstance(found, Unmeasured):
        raise InputError(f"A coherence scorer can't be trained: {found.why}.")
    named = tuple(systems) or corpus.systems
    if against == "mt":
        pairs = _joined([_against_mt(corpus, system, found) for system in named])
    else:
        pairs = _shuffled(_references(corpus, found), seed)
        if not pairs.groups:
            raise InputError(
                f"A coherence scorer needs a reference of at least {MIN_SENTENCES} sentences to train on other orders."
            )
    return ranker.train_ranker(
        pairs,
        kind=SCORER_KIND,
        features=COHESION_FEATURES,
        seed=seed,
        against=against,
        annotator=found.name,
        passage=PASSAGE_SENTENCES,
    )


@dataclass(frozen=True, slots=True)
class DipCoherence:
    """Sentence order by a trained scorer: the sum over documents of score(reference) − score(system).

    A detector of shuffled sentences, little better than chance at telling human texts from MT; the mean is a part.
    """

    scorer: Ranker | None = None
    seed: int = 1
    annotator: Annotator | None = None
    name: str = field(default="dip-coherence")
    higher_is_better: bool = False

    caveat: ClassVar[str] = (
        "it detects shuffled sentences (.79 to .85 of the pairs) and hardly tells human texts from MT of the same "
        "sentences (.50 to .59), so a difference between two systems says little about coherence."
    )

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """One row for each document and reference: the difference, and 1."""
        annotator = dip_annotator_or_unmeasured(corpus, LANGUAGES, what="Coherence", annotator=self.annotator)
        if isinstance(annotator, Unmeasured):
            return annotator
        scorer = {"scorer": self.scorer.fingerprint} if self.scorer else {"scorer": "order", "seed": self.seed}
        signature = metric_signature(
            self.name, **scorer, passage=PASSAGE_SENTENCES, refs="each", annotator=annotator.name
        )
        found = count_once(corpus, system, signature, lambda: self._differences(corpus, system, annotator))
        if isinstance(found, str):
            return Unmeasured(found)
        return MetricCounts(
            np.array([(difference, 1.0) for _, difference in found]),
            np.array([place for place, _ in found], dtype=np.intp),
            _sum,
            signature,
            unit="document",
            parts={"mean": mean_fold()},
        )

    def _differences(self, corpus: Corpus, system: str, annotator: Annotator) -> list[tuple[int, float]] | str:
        """The index of each document with the difference, for each reference; or why there are none."""
        scorers = self._scorers(corpus, annotator)
        if isinstance(scorers, Unmeasured):
            return scorers.why
        index = {one.id: place for place, one in enumerate(corpus.documents)}
        found = []
        sides = annotate_sides(corpus, system, annotator)
        groups = _groups(sides)
        for side in sides:
            indices = [place for place, text in enumerate(side.references) if text is not None]
            if indices:
                difference = _document(side.references, indices) - _document(side.outputs, indices)
                found.append((index[side.id], float(scorers[groups[side.id]].score(difference))))
        return found

    def _scorers(self, corpus: Corpus, annotator: Annotator) -> dict[str, Ranker] | Unmeasured:
        """The scorer for each document: the one given, or one trained on all other documents."""
        references = _references(corpus, annotator)
        groups = {one.group for one in references.values()}
        if self.scorer is not None:
            return dict.fromkeys(groups, self.scorer)
        key = (annotator.name, self.seed, tuple(sorted((text, one.group) for text, one in references.items())))
        if key not in _TRAINED:
            _TRAINED.clear()
            _TRAINED[key] = self._train(references, groups)
        return _TRAINED[key]

    def _train(self, references: Mapping[str, _Reference], groups: Set[str]) -> dict[str, Ranker] | Unmeasured:
        pairs = _shuffled(references, self.seed)
        found = {}
        for group in groups:
            rest = pairs.select_groups(frozenset(groups - {group}))
            if not rest.groups:
                return Unmeasured(
                    f"no other document has the {MIN_SENTENCES} sentences that training a scorer takes: "
                    "give a trained scorer"
                )
            found[group] = ranker.fit_ranker(rest.better, rest.worse, kind=SCORER_KIND, features=COHESION_FEATURES)
        return found


_TRAINED: dict[tuple[str, int, tuple[tuple[str, str], ...]], dict[str, Ranker] | Unmeasured] = {}
"""The scorers trained last, as all systems of a corpus have the same references."""


@dataclass(frozen=True, slots=True)
class _Reference:
    """A reference and its document."""

    group: str
    texts: _Texts


def _sum(sums: FloatArray) -> FloatArray:
    total: FloatArray = np.where(sums[..., 1] > 0, sums[..., 0], np.nan)
    return total


def _references(corpus: Corpus, annotator: Annotator) -> dict[str, _Reference]:
    """Every distinct reference text once."""
    sides = annotate_sides(corpus, corpus.systems[0], annotator)
    groups = _groups(sides)
    return {
        _key(side.references): _Reference(groups[side.id], side.references) for side in sides if any(side.references)
    }


def _groups(sides: Sequence[AnnotatedSides]) -> dict[str, str]:
    """The group of each document id: the texts of all its references."""
    keys: dict[str, set[str]] = {}
    for side in sides:
        keys.setdefault(side.id, set()).add(_key(side.references))
    return {name: " ".join(sorted(texts)) for name, texts in keys.items()}


def _key(texts: _Texts) -> str:
    """A content hash: neither the order of documents nor repetition may change the score."""
    words = "\n".join(" ".join(token.text for token in one.tokens) if one else "" for one in texts)
    return hash_text(words)


def _passages(texts: _Texts, indices: Sequence[int] | None = None) -> Iterator[list[CohesionSentence]]:
    """Passages of `PASSAGE_SENTENCES` segments; the last has the rest."""
    places = [place for place, one in enumerate(texts) if one is not None] if indices is None else indices
    for start in range(0, len(places), PASSAGE_SENTENCES):
        here = (texts[place] for place in places[start : start + PASSAGE_SENTENCES])
        yield cohesion_sentences([one for one in here if one is not None])


def _document(texts: _Texts, indices: Sequence[int]) -> FloatArray:
    """The mean of the features over the passages."""
    mean: FloatArray = np.mean([cohesion_features(passage) for passage in _passages(texts, indices)], axis=0)
    return mean


def _against_mt(corpus: Corpus, system: str, annotator: Annotator) -> RankedPairs:
    better, worse, groups = [], [], []
    sides = annotate_sides(corpus, system, annotator)
    documents = _groups(sides)
    for side in sides:
        indices = [place for place, text in enumerate(side.references) if text is not None]
        passages = zip(_passages(side.references, indices), _passages(side.outputs, indices), strict=True)
        for ours, theirs in passages:
            better.append(cohesion_features(ours))
            worse.append(cohesion_features(theirs))
            groups.append(documents[side.id])
    return _as_pairs(better, worse, groups)


def _shuffled(references: Mapping[str, _Reference], seed: int) -> RankedPairs:
    """Pairs of each passage that is long enough with its shuffled orders."""
    better, worse, groups = [], [], []
    for key in sorted(references):
        chance = np.random.default_rng([seed, int(key[:8], 16)])
        for passage in _passages(references[key].texts):
            if len(passage) < MIN_SENTENCES:
                continue
            straight = cohesion_features(passage)
            for _ in range(SHUFFLES):
                better.append(straight)
                worse.append(cohesion_features([passage[place] for place in chance.permutation(len(passage))]))
                groups.append(references[key].group)
    return _as_pairs(better, worse, groups)


def _joined(parts: Sequence[RankedPairs]) -> RankedPairs:
    groups = [group for part in parts for group in part.groups]
    return RankedPairs(
        np.concatenate([part.better for part in parts]), np.concatenate([part.worse for part in parts]), tuple(groups)
    )


def _as_pairs(better: Sequence[FloatArray], worse: Sequence[FloatArray], groups: Sequence[str]) -> RankedPairs:
    shape = (len(groups), len(COHESION_FEATURES))
    return RankedPairs(np.array(better).reshape(shape), np.array(worse).reshape(shape), tuple(groups))
