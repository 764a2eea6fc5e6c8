"""BLEU, document BLEU, chrF, chrF++ and TER with sacrebleu's tokenisers, statistics and signatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ape.errors import InputError
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

_TOKENISED = 100
_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}


@dataclass(frozen=True, slots=True)
class Bleu:
    """Corpus BLEU. `effective_order` is for scores of single segments, which may have fewer than four words.

    With `whole_documents`, it is d-BLEU: the segments of a document are joined, so n-grams may cross their borders.
    """

    lowercase: bool = False
    tokenize: str = ""
    """Default: sacrebleu's tokeniser for the target language."""
    effective_order: bool = False
    whole_documents: bool = False
    name: str = "bleu"
    higher_is_better: bool = True

    def for_segments(self) -> Bleu:
        """Sentence BLEU, for scores of single segments."""
        return replace(self, effective_order=True)

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """sacrebleu's statistics of each segment."""
        from sacrebleu.metrics.bleu import BLEU

        language = corpus.target_language
        tokenize = self.tokenize or _TOKENIZERS.get(language, "13a")
        if tokenize not in BLEU.TOKENIZERS:
            raise InputError(
                f"There is no tokeniser {tokenize!r}. sacrebleu has: {', '.join(sorted(map(str, BLEU.TOKENIZERS)))}.",
                field="tokenize",
            )
        if tokenize == "13a" and language in UNSPACED_LANGUAGES:
            return unmeasured_without_spaces("BLEU", language, "name a tokeniser for it, or use chrf")
        try:
            metric = BLEU(
                lowercase=self.lowercase,
                tokenize=tokenize,
                effective_order=self.effective_order,
                force=True,  # tokenised texts are a caveat of the results
            )
        except (ImportError, RuntimeError) as error:
            return Unmeasured(
                f"BLEU of this language needs a tokeniser: pip install 'sacrebleu[{tokenize[:2]}]' ({error})"
            )
        fold = sacrebleu_folds.bleu_fold(effective_order=self.effective_order)
        if self.whole_documents:
            found = _count_segments(self.name, metric, _joined(corpus, language), system, fold)
            return found if isinstance(found, Unmeasured) else replace(found, unit="document")
        return _count_segments(self.name, metric, corpus, system, fold)


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


def _joined(corpus: Corpus, language: str) -> Corpus:
    """Every document as one segment; segments that lack a reference are left out of its texts."""
    space = "" if language in UNSPACED_LANGUAGES else " "

    def join(texts: Sequence[str | None], kept: Sequence[int]) -> tuple[str, ...]:
        return (space.join(texts[place] or "" for place in kept),) if kept else ()

    documents = []
    for one in corpus.documents:
        kept = [place for place in range(len(one)) if all(texts[place] is not None for texts in one.references)]
        outputs = {name: join(texts, kept) for name, texts in one.outputs.items()}
        references = tuple(join(texts, kept) for texts in one.references)
        documents.append(replace(one, outputs=outputs, references=references, sources=()))
    return replace(corpus, documents=tuple(documents))


def is_tokenised(outputs: Sequence[str]) -> bool:
    """Whether a hundred texts end in a period after a space, at which sacrebleu warns that texts are tokenised."""
    return sum(text.rstrip().endswith(" .") for text in outputs) >= _TOKENISED


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
