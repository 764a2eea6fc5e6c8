"""Selection of a system's segments that have a reference or a source, in corpus order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ape.text.languages import language_name
from eval.corpus.corpus import Corpus
from eval.statistics.counts import Unmeasured

UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th", "lo", "km", "my"})
"""Languages without spaces between words."""


@dataclass(frozen=True, slots=True)
class ScorableSegments:
    """The segments that a segment metric reads."""

    outputs: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    """The references of each segment."""
    sources: tuple[str, ...]
    """As many as outputs, or none."""
    documents: NDArray[np.intp]

    @property
    def reference_count(self) -> str:
        """The number of references of a segment for signatures: "2", or "var"."""
        counts = {len(given) for given in self.references}
        return str(counts.pop()) if len(counts) == 1 else "var"


def segments_with_references(corpus: Corpus, system: str) -> ScorableSegments | Unmeasured:
    """The segments with a reference, or why there are none."""
    found = [
        (output, given, document.sources[place] if document.sources else "", number)
        for number, document in enumerate(corpus.documents)
        for place, output in enumerate(document.outputs[system])
        if (given := document.references_of(place))
    ]
    if not found:
        return Unmeasured("there is no reference")
    outputs, references, sources, documents = zip(*found, strict=True)
    return ScorableSegments(outputs, references, _whole(corpus, sources), np.array(documents, np.intp))


def segments_with_sources(corpus: Corpus, system: str) -> ScorableSegments | Unmeasured:
    """All segments with their sources, for metrics without references, or why there are none."""
    if not all(document.sources for document in corpus.documents):
        return Unmeasured("the source is not known")
    outputs = tuple(text for document in corpus.documents for text in document.outputs[system])
    sources = tuple(text for document in corpus.documents for text in document.sources)
    lengths = [len(document.sources) for document in corpus.documents]
    return ScorableSegments(outputs, ((),) * len(outputs), sources, np.repeat(np.arange(len(lengths)), lengths))


def _whole(corpus: Corpus, sources: tuple[str, ...]) -> tuple[str, ...]:
    return sources if all(document.sources for document in corpus.documents) else ()


def unmeasured_without_spaces(metric: str, language: str, instead: str) -> Unmeasured:
    """Why a word metric is undefined for a language without spaces."""
    return Unmeasured(f"{metric} counts words, and {language_name(language)} has no spaces between them: {instead}")
