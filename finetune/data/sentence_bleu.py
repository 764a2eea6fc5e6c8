"""Sentence BLEU of an MT against human versions, with cached n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from finetune.data.paragraph import TrainingParagraph

# sacrebleu has tokenisers for scripts without spaces; all others use 13a.
_TOKENISERS = {"zh": "zh", "ja": "char", "th": "char"}


@lru_cache(maxsize=8)
def _metric(language: str) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True, tokenize=_TOKENISERS.get(language, "13a"))


@lru_cache(maxsize=1 << 18)
def sentence_bleu(mt: str, references: tuple[str, ...], *, language: str) -> float:
    """Sentence BLEU with effective order, in points."""
    return float(_metric(language).sentence_score(mt, list(references)).score)


def paragraph_bleu(paragraph: TrainingParagraph, human: str) -> float:
    """BLEU of the MT against one human version."""
    return sentence_bleu(paragraph.mt, (human,), language=paragraph.target_language)


def aggregate_bleu(paragraph: TrainingParagraph) -> float:
    """PAR3's aggregate: the mean of BLEU against all human versions but one; plain BLEU if there is one."""
    texts = [text for _, text in paragraph.humans]
    sets = [(*texts[:place], *texts[place + 1 :]) for place in range(len(texts))] if texts[1:] else [tuple(texts)]
    return sum(sentence_bleu(paragraph.mt, one, language=paragraph.target_language) for one in sets) / len(sets)


def bleu_signature(languages: Sequence[str]) -> dict[str, str]:
    """sacrebleu's signature for each target language."""
    found = {}
    for language in sorted(set(languages)):
        sentence_bleu("a", ("a",), language=language)
        found[language] = str(_metric(language).get_signature())
    return found
