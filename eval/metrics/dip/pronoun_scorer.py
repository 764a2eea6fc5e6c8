"""Pronouns by a trained scorer: it prefers a reference's pronoun to that of an MT in the same context (as in DiP).

Its training pairs are the pronouns of references and the different ones that MTs have in their places; pronouns that
are interchangeable are none. Both are judged in the text of the reference, and the scorer knows neither what the
reference has nor its words: it sees the pronouns around, direct speech, and how well the coreference resolver finds
somebody that the pronoun can mean.

A system's score is the mean over paired pronouns of score(reference) − score(system), lower is better: equal pronouns
give 0, and a pronoun that fits better than the reference's lowers it. Without a trained scorer, each document is scored
by one that learned from all systems of the other documents. "dip-pronouns" is another metric: a match with the
reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ape.errors import InputError
from ape.files.hashing import hash_text
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators.protocol import Annotator
from eval.linguistics.coreference.entity_ranker import load_ranker
from eval.metrics.dip import ranker
from eval.metrics.dip.annotated_sides import AnnotatedSides, annotate_sides, dip_annotator_or_unmeasured
from eval.metrics.dip.pronoun_fit import FIT_FEATURES, PronounFits, measure_fits
from eval.metrics.dip.pronouns import PronounComparison, compare_pronouns
from eval.metrics.dip.ranker import RankedPairs, Ranker
from eval.metrics.metric import metric_signature
from eval.statistics.counts import FloatArray, MetricCounts, Unmeasured, mean_fold

LANGUAGES = ("en",)
SCORER_KIND = "pronouns"


@dataclass(frozen=True, slots=True)
class ScoredPronoun:
    """A pronoun of a reference and its counterpart, with the features of both in the reference's text."""

    segment: int
    comparison: PronounComparison
    reference: FloatArray
    output: FloatArray


@dataclass(frozen=True, slots=True)
class DipPronounScorer:
    """The mean of score(reference) − score(system) over pronouns; a part is the share that the scorer would change."""

    scorer: Ranker | None = None
    annotator: Annotator | None = None
    name: str = field(default="dip-pronoun-scorer")
    higher_is_better: bool = False

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """For each segment: the sum of differences, the pronouns that fit worse, and the paired pronouns."""
        annotator = dip_annotator_or_unmeasured(corpus, LANGUAGES, what="The pronoun scorer", annotator=self.annotator)
        if isinstance(annotator, Unmeasured):
            return annotator
        fits = _FitsByText()
        scorers = self._scorers(corpus, annotator, fits)
        if isinstance(scorers, Unmeasured):
            return scorers
        documents = np.repeat(np.arange(len(corpus.documents)), [len(one) for one in corpus.documents])
        rows = np.zeros((len(documents), 3))
        for side in annotate_sides(corpus, system, annotator):
            for one in fits.pronouns(side):
                difference = float(scorers[side.id].score(one.reference - one.output))
                rows[side.first_row + one.segment] += (difference, difference > 0, 1)
        scorer = {"scorer": self.scorer.fingerprint} if self.scorer else {"scorer": "other documents"}
        return MetricCounts(
            rows,
            documents,
            mean_fold(0, 2),
            metric_signature(
                self.name, **scorer, resolver=load_ranker().version, refs="each", annotator=annotator.name
            ),
            parts={"worse": mean_fold(1, 2)},
        )

    def _scorers(self, corpus: Corpus, annotator: Annotator, fits: _FitsByText) -> dict[str, Ranker] | Unmeasured:
        """The scorer of each document: the one given, or one trained on the other documents."""
        if self.scorer is not None:
            return dict.fromkeys((one.id for one in corpus.documents), self.scorer)
        pairs = _pairs(corpus, corpus.systems, annotator, fits)
        groups = frozenset(pairs.groups)
        found: dict[str, Ranker] = {}
        by_group: dict[str, Ranker] = {}
        for name, group in _groups(corpus).items():
            rest = pairs.select_groups(groups - {group})
            if not rest.groups:
                return Unmeasured("no other document has a pronoun unlike the reference's to train a scorer on")
            if group not in by_group:
                by_group[group] = ranker.fit_ranker(rest.better, rest.worse, kind=SCORER_KIND, features=FIT_FEATURES)
            found[name] = by_group[group]
        return found


def train_pronoun_scorer(
    corpus: Corpus, *, systems: Sequence[str] = (), seed: int = 1, annotator: Annotator | None = None
) -> Ranker:
    """Train a scorer on a corpus; its metadata has the accuracy on pairs of held-out documents."""
    found = dip_annotator_or_unmeasured(corpus, LANGUAGES, what="The pronoun scorer", annotator=annotator)
    if isinstance(found, Unmeasured):
        raise InputError(f"A pronoun scorer can't be trained: {found.why}.")
    pairs = _pairs(corpus, tuple(systems) or corpus.systems, found, _FitsByText())
    if not pairs.groups:
        raise InputError("A pronoun scorer needs outputs with pronouns unlike the reference's to train on.")
    return ranker.train_ranker(
        pairs, kind=SCORER_KIND, features=FIT_FEATURES, seed=seed, annotator=found.name, resolver=load_ranker().version
    )


def load_pronoun_scorer(path: Path) -> Ranker:
    """Load a saved scorer."""
    return ranker.load_ranker(path, kind=SCORER_KIND, features=FIT_FEATURES)


class _FitsByText:
    """The features of each reference text, measured once."""

    def __init__(self) -> None:
        self._known: dict[str, PronounFits] = {}

    def pronouns(self, side: AnnotatedSides) -> Iterator[ScoredPronoun]:
        """The pronouns of a reference that have a counterpart of a class that is scored."""
        texts = [one for one in side.references if one is not None]
        key = hash_text("\n".join(" ".join(token.text for token in one.tokens) for one in texts))
        if key not in self._known:
            self._known[key] = measure_fits(texts)
        fits = self._known[key]
        for number, (segment, reference, output) in enumerate(side.paired_annotations()):
            for one in compare_pronouns(reference, output):
                if one.output_pronoun is None:
                    continue
                place = number, one.reference_pronoun.start
                ours, theirs = (fits.at(*place, kind) for kind in (one.reference_pronoun.kind, one.output_pronoun.kind))
                if ours is not None and theirs is not None:
                    yield ScoredPronoun(segment, one, ours, theirs)


def _groups(corpus: Corpus) -> dict[str, str]:
    """The group of each document: documents with the same references are one, however often they stand there."""
    return {
        one.id: hash_text("\n".join(text or "" for texts in one.references for text in texts))
        for one in corpus.documents
    }


def _pairs(corpus: Corpus, systems: Sequence[str], annotator: Annotator, fits: _FitsByText) -> RankedPairs:
    """References' pronouns and the wrong ones of all systems, each wrong pronoun of a place once."""
    better, worse, groups = [], [], []
    group_of = _groups(corpus)
    seen: set[tuple[str, int, int, int, str]] = set()
    for system in systems:
        for side in annotate_sides(corpus, system, annotator):
            for one in fits.pronouns(side):
                output = one.comparison.output_pronoun
                if one.comparison.outcome != "wrong" or output is None:
                    continue
                key = (
                    group_of[side.id],
                    side.reference,
                    one.segment,
                    one.comparison.reference_pronoun.start,
                    output.kind,
                )
                if key not in seen:
                    seen.add(key)
                    better.append(one.reference)
                    worse.append(one.output)
                    groups.append(group_of[side.id])
    shape = (len(groups), len(FIT_FEATURES))
    return RankedPairs(np.array(better).reshape(shape), np.array(worse).reshape(shape), tuple(groups))
