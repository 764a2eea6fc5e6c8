"""The trained ranker in numpy: two layers over features of a mention and an entity; the best entity, or a new one."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ape.errors import InputError
from ape.files.atomic import atomic_path
from eval.linguistics.coreference.cluster_features import FEATURES, EntityClusters, Floats
from eval.linguistics.coreference.described_mention import DescribedText
from eval.linguistics.literary.weights import zip_arrays

RANKER_FILE = Path(__file__).with_name("ranker.npz")


@dataclass(frozen=True, slots=True)
class EntityRanker:
    """The weights of the ranker; `version` is a digest of the file."""

    weights: Mapping[str, Floats]
    version: str


def entity_scores(weights: Mapping[str, Floats], rows: Floats) -> Floats:
    """The score of each row of features."""
    state = np.maximum(rows @ weights["first.weight"].T + weights["first.bias"], 0)
    state = np.maximum(state @ weights["second.weight"].T + weights["second.bias"], 0)
    scores: Floats = (state @ weights["last.weight"].T + weights["last.bias"])[:, 0]
    return scores


def group_mentions(weights: Mapping[str, Floats], text: DescribedText) -> list[list[int]]:
    """The mentions of each entity, in reading order; decisions are not revised."""
    clusters = EntityClusters(text)
    for place in range(len(text.mentions)):
        clusters.add(place, int(entity_scores(weights, clusters.features(place)).argmax()))
    return clusters.members


def save_ranker(path: Path, weights: Mapping[str, Floats]) -> None:
    """Write the weights; equal weights make equal bytes."""
    with atomic_path(path) as draft:
        draft.write_bytes(zip_arrays(dict(sorted(weights.items()))))


@lru_cache(maxsize=2)
def load_ranker(path: Path = RANKER_FILE) -> EntityRanker:
    """Read a file of `save_ranker`."""
    try:
        content = path.read_bytes()
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            weights = {name: archive[name] for name in archive.files}
        width = weights["first.weight"].shape[1]
    except (OSError, EOFError, KeyError, ValueError, IndexError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} can't be read as weights of the coreference ranker: {error}.") from error
    if width != FEATURES:
        raise InputError(f"{path} has {width} features; this version has {FEATURES}. Train the ranker again.")
    return EntityRanker(weights, hashlib.sha256(content).hexdigest()[:8])
