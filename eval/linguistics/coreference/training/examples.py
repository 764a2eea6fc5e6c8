"""Training examples: mentions of an excerpt beside the entities so far, as annotated or as the ranker groups them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eval.linguistics.coreference.cluster_features import EntityClusters, Floats
from eval.linguistics.coreference.described_mention import DescribedText, describe_mentions
from eval.linguistics.coreference.entity_ranker import entity_scores
from eval.linguistics.literary.litbank import LitBankDocument
from eval.linguistics.literary.training.examples import LabelledText

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CoreferenceText:
    """An excerpt with its annotated mentions, and the annotated entity of each."""

    text: DescribedText
    entities: Sequence[int]


@dataclass(frozen=True, slots=True)
class RankingExamples:
    """Rows of features, the number of rows of each mention, and its right row among them."""

    rows: Floats
    sizes: Integers
    right: Integers


def label_text(document: LitBankDocument, labelled: LabelledText) -> CoreferenceText:
    """The mentions of an excerpt; one that is in no cluster is an entity of its own."""
    text = describe_mentions(document.words, labelled.tags, document.sentences, labelled.mentions or {})
    entity = {span: number for number, spans in enumerate(document.clusters) for span in spans}
    alone = len(document.clusters)
    entities = [entity.get((one.start, one.end), alone + place) for place, one in enumerate(text.mentions)]
    return CoreferenceText(text, entities)


def annotated_examples(labelled: CoreferenceText) -> RankingExamples:
    """Each mention after those before it were grouped as annotated."""
    return _examples(labelled, None)


def ranked_examples(labelled: CoreferenceText, weights: Mapping[str, Floats]) -> RankingExamples:
    """Each mention after those before it were grouped by the ranker; right is where most of its entity went."""
    return _examples(labelled, weights)


def _examples(labelled: CoreferenceText, weights: Mapping[str, Floats] | None) -> RankingExamples:
    clusters = EntityClusters(labelled.text)
    found, right = [], []
    for place, entity in enumerate(labelled.entities):
        rows = clusters.features(place)
        votes = [sum(labelled.entities[one] == entity for one in members) for members in clusters.members]
        best = int(np.argmax(votes)) if any(votes) else len(clusters.members)
        found.append(rows)
        right.append(best)
        clusters.add(place, best if weights is None else int(entity_scores(weights, rows).argmax()))
    return RankingExamples(np.concatenate(found), np.array([len(rows) for rows in found]), np.array(right))
