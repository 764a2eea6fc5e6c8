"""How well a pronoun fits its place in a text: features of what was said before, what follows, and of who can be meant.

Every pronoun is judged in the same text, so that two pronouns in one place differ by nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eval.linguistics.annotators.protocol import Annotation
from eval.linguistics.coreference.cluster_features import EntityClusters
from eval.linguistics.coreference.described_mention import DescribedMention, DescribedText
from eval.linguistics.coreference.entity_ranker import EntityRanker, entity_scores, load_ranker
from eval.linguistics.coreference.genders import GENDER_OF_TYPE
from eval.linguistics.coreference.trained_resolver import describe_annotations
from eval.metrics.dip.pronouns import PRONOUN_CLASSES
from eval.statistics.counts import FloatArray

# The pronoun types of the resolver in the order of the classes that are scored.
_TYPES = dict(zip(PRONOUN_CLASSES, ("he", "she", "it", "they", "I", "we", "you"), strict=True))
_NEAR = 5
FIT_FEATURES = (
    *(f"is {one}" for one in PRONOUN_CLASSES),
    *("before", "last", "last in this speech", "after", "next", "in speech", "first or second person in speech"),
    *("best entity", "best entity's probability", "an entity fits", "an entity of the last sentences fits"),
)


@dataclass(frozen=True, slots=True)
class PronounFits:
    """The features of each class of pronoun at each pronoun of a text, by segment and offset."""

    places: Mapping[tuple[int, int], Mapping[str, FloatArray]]

    def at(self, segment: int, start: int, kind: str) -> FloatArray | None:
        """The features of a class at a pronoun; None if the class or the place is not scored."""
        return self.places.get((segment, start), {}).get(kind)


def measure_fits(segments: Sequence[Annotation]) -> PronounFits:
    """Read a text once, and put every class in the place of each pronoun."""
    text, places = describe_annotations(segments, all_pronouns=True)
    ranker = load_ranker()
    clusters = EntityClusters(text)
    pronouns = [place for place, one in enumerate(text.mentions) if one.pronoun in _TYPES.values()]
    order = {place: number for number, place in enumerate(pronouns)}
    found: dict[tuple[int, int], Mapping[str, FloatArray]] = {}
    for place, mention in enumerate(text.mentions):
        if place in order:
            segment, token = places[mention.start]
            nearby = _NearbyPronouns.of(text, pronouns, order[place])
            found[segment, segments[segment].tokens[token].start] = {
                kind: np.concatenate([nearby.features(kind), _antecedents(clusters, ranker, place, kind)])
                for kind in PRONOUN_CLASSES
            }
        clusters.add(place, int(entity_scores(ranker.weights, clusters.features(place)).argmax()))
    return PronounFits(found)


@dataclass(frozen=True, slots=True)
class _NearbyPronouns:
    """The pronouns before and after a place."""

    before: Sequence[DescribedMention]
    after: Sequence[DescribedMention]
    quotation: int

    @classmethod
    def of(cls, text: DescribedText, pronouns: Sequence[int], at: int) -> _NearbyPronouns:
        before = [text.mentions[one] for one in pronouns[max(0, at - _NEAR) : at]]
        after = [text.mentions[one] for one in pronouns[at + 1 : at + 1 + _NEAR]]
        return cls(before, after, text.mentions[pronouns[at]].quotation)

    def features(self, kind: str) -> FloatArray:
        own = _TYPES[kind]
        is_quoted = self.quotation >= 0
        here = [one for one in self.before if one.quotation == self.quotation]
        return np.array(
            [
                *(kind == one for one in PRONOUN_CLASSES),
                sum(one.pronoun == own for one in self.before) / _NEAR,
                bool(self.before) and self.before[-1].pronoun == own,
                bool(here) and here[-1].pronoun == own,
                sum(one.pronoun == own for one in self.after) / _NEAR,
                bool(self.after) and self.after[0].pronoun == own,
                is_quoted and kind not in ("masculine", "feminine"),
                is_quoted and own in ("I", "we", "you"),
            ],
            dtype=float,
        )


def _antecedents(clusters: EntityClusters, ranker: EntityRanker, place: int, kind: str) -> FloatArray:
    """How well the resolver finds somebody for the pronoun: the best entity against a new one, and who fits at all."""
    own = _TYPES[kind]
    mention = clusters.text.mentions[place]
    changed = replace(mention, pronoun=own, gender=GENDER_OF_TYPE.get(own, "unknown"))
    scores = entity_scores(ranker.weights, clusters.features(place, changed)).astype(float)
    if len(scores) == 1:
        return np.zeros(4)
    fits, distance = clusters.fitting(changed)
    shares = np.exp(scores - scores.max())
    best = scores[:-1].max()
    return np.array(
        [
            float(np.clip(best - scores[-1], -10, 10)) / 10,
            float(shares[:-1].max() / shares.sum()),
            float(fits.any()),
            float((fits & (distance <= 2)).any()),
        ]
    )
