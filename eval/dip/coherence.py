"""Coherence: a scorer trained to tell a reference from its MT, or from its own sentences in another order.

A system's score is the sum over documents of what the scorer gives to the reference less what it gives to the system:
lower is better, and the reference itself gets 0. Without a trained scorer, each document is scored by one that learned
order from the references of the other documents, so that no document is judged by what was learned from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from ape.errors import InputError
from eval.annotate.protocol import Annotation, Annotator
from eval.corpus import Corpus
from eval.dip import ranking
from eval.dip.cohesion import FEATURES, Sentence, features, sentences
from eval.dip.ranking import Pairs, Ranker
from eval.dip.sides import asking, read_sides
from eval.metric import Counted, Numbers, Unmeasured, mean_of, signed

LANGUAGES = ("en",)
KIND = "coherence"
PASSAGE = 12
"""Segments that are looked at together."""
SHUFFLES = 10
"""Other orders for each passage to learn from."""
Against: TypeAlias = Literal["mt", "shuffled"]
_Texts: TypeAlias = Sequence[Annotation | None]


def load_scorer(path: Path) -> Ranker:
    """One that was saved."""
    return ranking.load(path, kind=KIND, features=FEATURES)


def train_scorer(
    corpus: Corpus,
    *,
    against: Against = "mt",
    systems: Sequence[str] = (),
    seed: int = 1,
    annotator: Annotator | None = None,
) -> Ranker:
    """A scorer from the references of a corpus, with its accuracy on documents held out of the training."""
    found = asking(corpus, LANGUAGES, what="Coherence", annotator=annotator)
    if isinstance(found, Unmeasured):
        raise InputError(f"No scorer of coherence can be trained: {found.why}.")
    named = tuple(systems) or corpus.systems
    if against == "mt":
        pairs = _joined([_against_mt(corpus, system, found) for system in named])
    else:
        pairs = _shuffled(_references(corpus, found), seed)
    return ranking.train(
        pairs, kind=KIND, features=FEATURES, seed=seed, against=against, annotator=found.name, passage=PASSAGE
    )


@dataclass(frozen=True, slots=True)
class Coherence:
    """The sum over documents of score(reference) - score(system), and its mean as a part."""

    scorer: Ranker | None = None
    seed: int = 1
    annotator: Annotator | None = None
    name: str = field(default="dip-coherence")
    higher_is_better: bool = False

    def count(self, corpus: Corpus, system: str) -> Counted | Unmeasured:
        """A row for each document in each reference: the difference, and a one to count it."""
        annotator = asking(corpus, LANGUAGES, what="Coherence", annotator=self.annotator)
        if isinstance(annotator, Unmeasured):
            return annotator
        scorers = self._scorers(corpus, annotator)
        if isinstance(scorers, Unmeasured):
            return scorers
        index = {one.id: place for place, one in enumerate(corpus.documents)}
        rows, documents = [], []
        for side in read_sides(corpus, system, annotator):
            kept = [place for place, text in enumerate(side.references) if text is not None]
            if kept:
                difference = _document(side.references, kept) - _document(side.outputs, kept)
                rows.append((float(scorers[_key(side.references)].score(difference)), 1.0))
                documents.append(index[side.id])
        told = {"scorer": self.scorer.fingerprint} if self.scorer else {"scorer": "order", "seed": self.seed}
        return Counted(
            np.array(rows),
            np.array(documents, dtype=np.intp),
            _sum,
            signed(self.name, **told, passage=PASSAGE, refs="each", annotator=annotator.name),
            unit="document",
            parts={"mean": mean_of()},
        )

    def _scorers(self, corpus: Corpus, annotator: Annotator) -> dict[str, Ranker] | Unmeasured:
        """By the text of a reference: the one given, or one that learned from all the others."""
        references = _references(corpus, annotator)
        if self.scorer is not None:
            return dict.fromkeys(references, self.scorer)
        pairs = _shuffled(references, self.seed)
        found = {}
        for key in references:
            rest = pairs.of(frozenset(references) - {key})
            if not rest.groups:
                return Unmeasured(
                    "a scorer learns from other documents, and here is none: give a trained one"
                )
            found[key] = ranking.fit(rest.better, rest.worse, kind=KIND, features=FEATURES)
        return found


def _sum(sums: Numbers) -> Numbers:
    total: Numbers = np.where(sums[..., 1] > 0, sums[..., 0], np.nan)
    return total


def _references(corpus: Corpus, annotator: Annotator) -> dict[str, list[list[Sentence]]]:
    """The passages of every reference, each text once however often it is in the corpus."""
    sides = read_sides(corpus, corpus.systems[0], annotator)
    return {_key(side.references): list(_passages(side.references)) for side in sides if any(side.references)}


def _key(texts: _Texts) -> str:
    """A text by its content: it must not matter in which order documents come, or that one comes twice."""
    words = "\n".join(" ".join(token.text for token in one.tokens) if one else "" for one in texts)
    return sha256(words.encode()).hexdigest()


def _passages(texts: _Texts, kept: Sequence[int] | None = None) -> Iterator[list[Sentence]]:
    """A dozen segments each, the last as many as are left."""
    places = [place for place, one in enumerate(texts) if one is not None] if kept is None else kept
    for start in range(0, len(places), PASSAGE):
        here = (texts[place] for place in places[start : start + PASSAGE])
        yield sentences([one for one in here if one is not None])


def _document(texts: _Texts, kept: Sequence[int]) -> Numbers:
    """The mean of the features over its passages."""
    mean: Numbers = np.mean([features(passage) for passage in _passages(texts, kept)], axis=0)
    return mean


def _against_mt(corpus: Corpus, system: str, annotator: Annotator) -> Pairs:
    better, worse, groups = [], [], []
    for side in read_sides(corpus, system, annotator):
        kept = [place for place, text in enumerate(side.references) if text is not None]
        passages = zip(_passages(side.references, kept), _passages(side.outputs, kept), strict=True)
        for ours, theirs in passages:
            better.append(features(ours))
            worse.append(features(theirs))
            groups.append(_key(side.references))
    return _as_pairs(better, worse, groups)


def _shuffled(references: dict[str, list[list[Sentence]]], seed: int) -> Pairs:
    """Each passage of three sentences or more against other orders of them."""
    better, worse, groups = [], [], []
    for key in sorted(references):
        chance = np.random.default_rng([seed, int(key[:8], 16)])
        for passage in references[key]:
            if len(passage) < 3:
                continue
            straight = features(passage)
            for _ in range(SHUFFLES):
                better.append(straight)
                worse.append(features([passage[place] for place in chance.permutation(len(passage))]))
                groups.append(key)
    return _as_pairs(better, worse, groups)


def _joined(parts: Sequence[Pairs]) -> Pairs:
    groups = [group for part in parts for group in part.groups]
    return Pairs(
        np.concatenate([part.better for part in parts]),
        np.concatenate([part.worse for part in parts]),
        tuple(groups),
    )


def _as_pairs(better: Sequence[Numbers], worse: Sequence[Numbers], groups: Sequence[str]) -> Pairs:
    shape = (len(groups), len(FEATURES))
    return Pairs(np.array(better).reshape(shape), np.array(worse).reshape(shape), tuple(groups))
