"""BLEU, chrF, chrF++ and TER with sacrebleu's tokenisers, statistics and signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eval.corpus.corpus import Corpus
from eval.metrics import sacrebleu_folds
from eval.metrics.metric import metric_signature
from eval.metrics.segments import (
    UNSPACED_LANGUAGES,
    ScorableSegments,
    segments_with_references,
    unmeasured_without_spaces,
)
from eval.statistics.counts import Fold, MetricCounts, Unmeasured

_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
_ORDER = 4


@dataclass(frozen=True, slots=True)
class Bleu:
    """Corpus BLEU. `effective_order` is for scores of single segments, which may have fewer than four words."""

    lowercase: bool = False
    tokenize: str = ""
    """Default: sacrebleu's tokeniser for the target language."""
    effective_order: bool = False
    name: str = "bleu"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """sacrebleu's statistics of each segment."""
        from sacrebleu.metrics.bleu import BLEU

        language = corpus.target_language
        tokenize = self.tokenize or _TOKENIZERS.get(language, "13a")
        if tokenize == "13a" and language in UNSPACED_LANGUAGES:
            return unmeasured_without_spaces("BLEU", language, "name a tokeniser for it, or use chrf")
        try:
            metric = BLEU(
                lowercase=self.lowercase,
                tokenize=tokenize,
                effective_order=self.effective_order,
                force=True,  # no warning about tokenised texts, which many test sets have
            )
        except (ImportError, RuntimeError) as error:
            return Unmeasured(
                f"BLEU of this language needs a tokeniser: pip install 'sacrebleu[{tokenize[:2]}]' ({error})"
            )
        return _count_segments(
            self.name, metric, corpus, system, sacrebleu_folds.bleu_fold(effective_order=self.effective_order)
        )


@dataclass(frozen=True, slots=True)
class Chrf:
    """chrF; with `word_order` 2, chrF++."""

    word_order: int = 0
    name: str = "chrf"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """sacrebleu's statistics of each segment."""
        from sacrebleu.metrics.chrf import CHRF

        if self.word_order and corpus.target_language in UNSPACED_LANGUAGES:
            return unmeasured_without_spaces("chrF++", corpus.target_language, "use chrf")
        return _count_segments(self.name, CHRF(word_order=self.word_order), corpus, system, sacrebleu_folds.chrf_fold())


@dataclass(frozen=True, slots=True)
class Ter:
    """TER; by characters for Chinese and Japanese, as with sacrebleu's `asian_support`."""

    case_sensitive: bool = False
    name: str = "ter"
    higher_is_better: bool = False

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """sacrebleu's statistics of each segment."""
        from eval.metrics.batched_ter import BatchedTer

        by_character = corpus.target_language in ("zh", "ja")
        if corpus.target_language in UNSPACED_LANGUAGES and not by_character:
            return unmeasured_without_spaces("TER", corpus.target_language, "use chrf")
        metric = BatchedTer(normalized=by_character, asian_support=by_character, case_sensitive=self.case_sensitive)
        return _count_segments(self.name, metric, corpus, system, sacrebleu_folds.ter_fold)


def _count_segments(name: str, metric: Any, corpus: Corpus, system: str, fold: Fold) -> MetricCounts | Unmeasured:
    segments = segments_with_references(corpus, system)
    if isinstance(segments, Unmeasured):
        return segments
    rows = metric._extract_corpus_statistics(segments.outputs, _streams(segments))
    return MetricCounts(np.array(rows, float), segments.documents, fold, metric_signature(name, **_recipe(metric)))


def _streams(segments: ScorableSegments) -> list[list[str | None]]:
    """One list for each reference, as sacrebleu expects, with None where a segment has fewer."""
    most = max(map(len, segments.references))
    padded = [(*given, *[None] * (most - len(given))) for given in segments.references]
    return [list(stream) for stream in zip(*padded, strict=True)]


def _recipe(metric: Any) -> Mapping[str, object]:
    """sacrebleu's signature fields, with its version under its own name."""
    fields: dict[str, object] = {key: value for key, value in metric.get_signature().info.items() if value is not None}
    return fields | {"sacrebleu": fields.pop("version")}
