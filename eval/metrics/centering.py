"""Coherence by centering theory: whether each sentence continues the topic of the previous one.

The entities of a sentence are its forward-looking centres, CF, most salient first: subject 3, object 2, other 1, and 3
more for a pronoun; an entity's best mention counts, and ties go to the earlier. CP is the first of CF. CB(n), the link
to the previous sentence, is the first of CF(n-1) that is also in CF(n). Of the N-1 links between sentences with
mentions, NOCB (negative) is the share without a CB; the other two are the shares with CB(n) = CP(n) and with CB(n) =
CB(n-1); the first sentence has no CB. KP is the mean of the three. A text is then compared with reorderings of its
sentences: a coherent text should beat most of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, permutations
from math import factorial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eval.corpus.corpus import Corpus
from eval.linguistics.annotators import Annotator
from eval.linguistics.annotators.protocol import Annotation
from eval.linguistics.coreference.resolver import CoreferenceResolver, Mention
from eval.linguistics.coreference.trained_resolver import default_resolver
from eval.metrics.annotator import annotator_or_unmeasured
from eval.metrics.counts_cache import count_once
from eval.metrics.metric import metric_signature
from eval.statistics.counts import FloatArray, MetricCounts, Unmeasured, mean_fold

SyntacticRole: TypeAlias = Literal["subject", "object", "other"]
_RANK: dict[SyntacticRole, int] = {"subject": 3, "object": 2, "other": 1}
_PRONOUN = 3
MAX_REORDERINGS = 99


@dataclass(frozen=True, slots=True)
class Centre:
    """A mention in a sentence as a centre."""

    entity: str
    role: SyntacticRole = "other"
    pronoun: bool = False


@dataclass(frozen=True, slots=True)
class CenteringScores:
    """The three shares of a text's links, and their mean."""

    nocb: float
    """Negative: the share of links without a CB."""
    salience: float
    coherence: float

    @property
    def kp(self) -> float:
        """From -1/3 to slightly under 2/3."""
        return (self.nocb + self.salience + self.coherence) / 3


@dataclass(frozen=True, slots=True)
class ReorderingCounts:
    """Numbers of reorderings with a lower, the same and a higher KP."""

    lower: int
    equal: int
    higher: int

    @property
    def share(self) -> float:
        """The share of reorderings that the text beats; ties count half."""
        return (self.lower + self.equal / 2) / (self.lower + self.equal + self.higher)


def forward_centres(utterance: Sequence[Centre]) -> tuple[str, ...]:
    """CF: each entity once, the most salient first."""
    rank: dict[str, int] = {}
    for centre in utterance:
        here = _RANK[centre.role] + _PRONOUN * centre.pronoun
        rank[centre.entity] = max(rank.get(centre.entity, 0), here)
    return tuple(sorted(rank, key=lambda entity: -rank[entity]))  # stable: ties keep their order


def centering_scores(utterances: Sequence[Sequence[Centre]]) -> CenteringScores | None:
    """The scores of a text; None if fewer than two sentences have mentions."""
    links = _Links.of(utterances)
    if links is None:
        return None
    nocb, salience, coherence = links.shares(np.arange(len(links.first))[None])[0]
    return CenteringScores(float(nocb), float(salience), float(coherence))


def compare_reorderings(
    utterances: Sequence[Sequence[Centre]], *, most: int = MAX_REORDERINGS, seed: int = 1
) -> ReorderingCounts | None:
    """Compare a text with this many distinct reorderings, or with all; None as for `centering_scores`."""
    links = _Links.of(utterances)
    if links is None:
        return None
    orders = _orders(len(links.first), most, seed)
    ours = links.shares(np.arange(len(links.first))[None]).sum(axis=-1)
    # All shares have the same denominator, so rounding makes ties exact.
    margins = np.round((ours - links.shares(orders).sum(axis=-1)) * (len(links.first) - 1))
    return ReorderingCounts(int((margins > 0).sum()), int((margins == 0).sum()), int((margins < 0).sum()))


def _orders(length: int, most: int, seed: int) -> NDArray[np.intp]:
    """Distinct orders other than the original."""
    if length < 10 and factorial(length) - 1 <= most:
        return np.asarray(list(islice(permutations(range(length)), 1, None)), dtype=np.intp)
    chance = np.random.default_rng(seed)
    own, found = tuple(range(length)), dict[tuple[int, ...], None]()
    while len(found) < most:
        order = tuple(chance.permutation(length).tolist())
        if order != own:
            found[order] = None
    return np.asarray(list(found), dtype=np.intp)


@dataclass(frozen=True, slots=True)
class _Links:
    """CB of every sentence after every other, and CP of each, as entity numbers; -1 is none."""

    between: NDArray[np.intp]
    first: NDArray[np.intp]

    @classmethod
    def of(cls, utterances: Sequence[Sequence[Centre]]) -> _Links | None:
        centres = [forward_centres(utterance) for utterance in utterances if utterance]
        if len(centres) < 2:
            return None
        number = {entity: place for place, entity in enumerate(dict.fromkeys(e for cf in centres for e in cf))}
        sets = [set(cf) for cf in centres]
        between = [
            [next((number[entity] for entity in before if entity in after), -1) for after in sets] for before in centres
        ]
        return cls(np.asarray(between, dtype=np.intp), np.asarray([number[cf[0]] for cf in centres], dtype=np.intp))

    def shares(self, orders: NDArray[np.intp]) -> FloatArray:
        """(orders, 3): the three shares of the text in each order."""
        cb = self.between[orders[:, :-1], orders[:, 1:]]
        has = cb >= 0
        salient = has & (cb == self.first[orders[:, 1:]])
        continued = has[:, 1:] & (cb[:, 1:] == cb[:, :-1])
        counts = np.stack([-(~has).sum(axis=1), salient.sum(axis=1), continued.sum(axis=1)], axis=-1)
        shares: FloatArray = counts / cb.shape[1]
        return shares


# --- from texts --------------------------------------------------------------------------------------------------

_FINITE = frozenset("VBD VBZ VBP MD VV VC VE VA".split())
_ADVERBS = frozenset("RB RBR AD".split())
_SUBJECTS = frozenset("i he she we they".split())
_OBJECTS = frozenset("me him us them".split())


def build_utterances(segments: Sequence[Annotation], mentions: Sequence[Sequence[Mention]]) -> list[list[Centre]]:
    """The sentences of a document with their mentions."""
    found: list[list[Centre]] = []
    for annotation, inside in zip(segments, mentions, strict=True):
        begins = [annotation.tokens[at].start for at in annotation.sentences if at < len(annotation.tokens)] or [0]
        for start, end in zip(begins, [*begins[1:], None], strict=True):
            sentence = [one for one in inside if one.start >= start and (end is None or one.start < end)]
            found.append([Centre(one.entity, role_of(annotation, one), one.pronoun) for one in sentence])
    return found


def role_of(annotation: Annotation, mention: Mention) -> SyntacticRole:
    """The role by the tags around a mention: subject before a finite verb, object after a verb."""
    inside = [at for at, token in enumerate(annotation.tokens) if mention.start <= token.start < mention.end]
    if not inside or annotation.tokens[inside[-1]].tag == "PRP$":
        return "other"
    word = annotation.tokens[inside[0]].text.lower()
    tags = [token.tag for token in annotation.tokens if token.tag not in _ADVERBS]
    place = sum(token.tag not in _ADVERBS for token in annotation.tokens[: inside[0]])
    size = sum(annotation.tokens[at].tag not in _ADVERBS for at in inside)
    before = tags[place - 1] if place else ""
    after = tags[place + size] if place + size < len(tags) else ""
    if mention.pronoun and word in _SUBJECTS:
        return "subject"
    if after in _FINITE and word not in _OBJECTS:
        return "subject"
    return "object" if before.startswith("V") else "other"


@dataclass(frozen=True, slots=True)
class KpCoherence:
    """The mean KP of the documents; parts are its shares and the share of reorderings beaten.

    It reads the output only and needs no reference. Without a resolver, texts in which the annotator finds mentions
    (English by the literary annotator) are resolved by the trained one, others by rules.
    """

    resolver: CoreferenceResolver | None = None
    annotator: Annotator | None = None
    reorderings: int = MAX_REORDERINGS
    seed: int = 1
    name: str = "kp"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """For each document: KP, its three shares, the share of reorderings beaten, and 1."""
        annotator = annotator_or_unmeasured(corpus.target_language, self.annotator)
        if isinstance(annotator, Unmeasured):
            return annotator
        resolver = self.resolver or default_resolver(annotator)
        signature = metric_signature(
            self.name, reorderings=self.reorderings, seed=self.seed, resolver=resolver.name, annotator=annotator.name
        )
        rows = count_once(
            corpus,
            system,
            signature,
            lambda: [self._row(annotator.annotate(one.outputs[system]), resolver) for one in corpus.documents],
        )
        names = ("nocb", "salience", "coherence", "reorderings beaten")
        return MetricCounts(
            np.asarray(rows, dtype=float),
            np.arange(len(rows), dtype=np.intp),
            mean_fold(0, 5),
            signature,
            unit="document",
            parts={name: mean_fold(column, 5) for column, name in enumerate(names, 1)},
        )

    def _row(self, segments: Sequence[Annotation], resolver: CoreferenceResolver) -> list[float]:
        found = build_utterances(segments, resolver.resolve(segments))
        scored, against = (centering_scores(found), compare_reorderings(found, most=self.reorderings, seed=self.seed))
        if scored is None or against is None:
            return [0.0] * 6
        return [scored.kp, scored.nocb, scored.salience, scored.coherence, against.share, 1.0]
