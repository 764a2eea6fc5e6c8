"""The ledger of a corpus for metrics: its texts as one book, and the renderings of each mention."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from ape.ledger.build import build_ledger
from ape.ledger.entity import Ledger, LedgerParagraph
from ape.ledger.links import LedgerIndex, Wordings
from ape.text.terms import has_wording
from eval.corpus.corpus import Corpus, Document
from eval.statistics.counts import Unmeasured

TargetText = Callable[[Document, int], str]


def corpus_ledger(corpus: Corpus, target: TargetText) -> LedgerIndex | Unmeasured:
    """The ledger of the sources and `target`, or why there is none."""
    if not all(document.sources for document in corpus.documents):
        return Unmeasured("the source is not known")
    paragraphs = tuple(
        LedgerParagraph(f"{number}/{segment}", document.sources[segment], target(document, segment))
        for number, document, segment in corpus.segments()
    )
    return _build_index(paragraphs, corpus.source_language, corpus.target_language)


@lru_cache(maxsize=2)
def _build_index(paragraphs: tuple[LedgerParagraph, ...], source: str, target: str) -> LedgerIndex | Unmeasured:
    """Kept, as a metric that reads the references asks for the same ledger with each system."""
    ledger: Ledger = build_ledger(list(paragraphs), source_language=source, target_language=target)
    if ledger.notes and not ledger.entities:
        return Unmeasured(" ".join(ledger.notes))
    return LedgerIndex(ledger)


def find_rendering(text: str, wordings: Wordings, language: str) -> str | None:
    """The rendering that a text has, "" for any right one; None if it has none or several."""
    found = set(_renderings(text, wordings, language))
    return found.pop() if len(found) == 1 else None


def _renderings(text: str, wordings: Wordings, language: str) -> Iterator[str]:
    """The renderings of a text, the longest first and then by alphabet, none inside another."""
    for wording in sorted({*wordings.right, *wordings.wrong}, key=lambda one: (-len(one), one)):
        if has_wording(text, wording, language=language):
            text = text.replace(wording, "\n")
            yield "" if wording in wordings.right else wording
