"""An encoder that needs no model, and a plain loop to compare with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from finetune.data.alignment.encoder import Vectors


class Bag:
    """An encoder by which sentences are similar if they share words."""

    name = "bag"
    language = "en"

    def encode(self, sentences: Sequence[str]) -> Vectors:
        vectors = np.full((len(sentences), 512), 1e-6, dtype=np.float32)
        for row, sentence in zip(vectors, sentences, strict=True):
            for word in re.findall(r"\w+", sentence.lower()):
                row[crc32(word.encode()) % 512] += 1
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)
