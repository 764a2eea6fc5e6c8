"""LTCR: of all pairs of occurrences of a repeated source word, the share translated alike (Lyu et al. 2021).

LTCR = Σ_w Σ_{i<j} [t_i = t_j] / Σ_w k(k-1)/2, in percent. Translations come from word alignment and are equal if all
their lower-cased stems are: "Qiao" is not "Qiao Lian". An occurrence without a translation equals no other. A row is a
document. Parts are the scores by part of speech and by distance in sentences and, with annotated translations, the
aligner's error: the share of pairs counted as different although both sentences have the annotated translation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ape.errors import InputError
from ape.text.languages import language_code, language_name
from ape.text.word_alignment.protocol import Bitext, WordAligner
from ape.text.word_alignment.stemmer import stemmer_name
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators.protocol import Annotator
from eval.linguistics.word_alignment.cache import alignment_digest
from eval.metrics.counts_cache import count_once
from eval.metrics.ltcr.chains import CHAIN_CATEGORIES, CHAIN_DISTANCES, LANGUAGES, AnnotatedChains, LexicalChain
from eval.metrics.ltcr.inconsistency import Inconsistency, build_inconsistency
from eval.metrics.ltcr.linked_document import LinkedDocument, link_documents
from eval.metrics.ltcr.name_inconsistencies import worst_names
from eval.metrics.ltcr.renderings import (
    RENDERING_RECIPE,
    WordRendering,
    chain_renderings,
    count_associations,
    find_stems,
)
from eval.metrics.ltcr.words import LTCR_UNSPACED_LANGUAGES, tokenize_words
from eval.metrics.metric import Mark, metric_signature
from eval.statistics.counts import FloatArray, Fold, MetricCounts, Unmeasured, ratio, share_fold

# Columns: agreeing pairs of each category and distance, all pairs of each, and pairs that the aligner missed.
_KINDS = len(CHAIN_CATEGORIES) * len(CHAIN_DISTANCES)
_COLUMNS = 2 * _KINDS + 1


@dataclass(frozen=True, slots=True)
class Ltcr:
    """L-All; with annotated documents L-Anno, which counts only the annotated chains.

    `read` selects the renderings: "links" of the word aligner or, as a check of it, "annotation": an occurrence has the
    annotated translation or none.
    """

    annotated: Mapping[str, AnnotatedChains] | None = None
    aligner: WordAligner | None = None
    annotator: Annotator | None = None
    extra: Bitext = ()
    read: Literal["links", "annotation"] = "links"
    higher_is_better: bool = True

    caveat: ClassVar[str] = (
        "its links are those of one seed of the word aligner; on nine chapters two other seeds moved systems by up to "
        "1.7 points, so smaller differences mean nothing."
    )

    @property
    def name(self) -> str:
        """The name, which says which chains are counted."""
        return "ltcr" if self.annotated is None else "ltcr-anno"

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """Pairs by category and distance for each document."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return annotator

        return MetricCounts(
            np.asarray(self._found(corpus, system, annotator)["rows"]),
            np.arange(len(corpus.documents)),
            _share(range(_KINDS)),
            self._signature(corpus, annotator),
            unit="document",
            parts=_parts(with_error=self.annotated is not None and self.read == "links"),
        )

    def inconsistencies(self, corpus: Corpus, system: str) -> list[Inconsistency]:
        """Words translated in several ways, with every rendering in its sentence, the worst first."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            raise InputError(f"Inconsistent words can't be listed: {annotator.why}.")
        listed = [
            build_inconsistency(linked, chain, found)
            for _, linked, chain, found in self._chain_renderings(corpus, system, annotator)
        ]
        return _worst_first(listed)

    def name_rows(self, corpus: Corpus, system: str) -> list[dict[str, Any]]:
        """The names that are translated in several ways, the worst first, for JSON."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return []
        names: list[dict[str, Any]] = self._found(corpus, system, annotator)["names"]
        return names

    def _found(self, corpus: Corpus, system: str, annotator: Annotator) -> dict[str, Any]:
        """`rows` of counts and `names`, from the cache unless there is more to them than the signature says.

        The signature does not name the chains, nor the annotator that divides Chinese outputs into words.
        """
        if self.annotated is not None or language_code(corpus.target_language) in LTCR_UNSPACED_LANGUAGES:
            return self._find(corpus, system, annotator)
        return count_once(
            corpus, system, self._signature(corpus, annotator), lambda: self._find(corpus, system, annotator)
        )

    def _find(self, corpus: Corpus, system: str, annotator: Annotator) -> dict[str, Any]:
        rows = np.zeros((len(corpus.documents), _COLUMNS))
        listed = []
        for number, linked, chain, found in self._chain_renderings(corpus, system, annotator):
            rows[number] += _pairs(chain, found, _has_annotated_rendering(linked, chain, corpus.target_language))
            listed.append(build_inconsistency(linked, chain, found))
        names = worst_names(_worst_first(listed))
        return {"rows": rows.tolist(), "names": [name.to_dict() for name in names]}

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """Each rendering that is not the word's most frequent one, with its source word."""
        if isinstance(self._annotator(corpus), Unmeasured):
            return
        for one in self.inconsistencies(corpus, system):
            yield from one.marks()

    def _chain_renderings(
        self, corpus: Corpus, system: str, annotator: Annotator
    ) -> Iterator[tuple[int, LinkedDocument, LexicalChain, list[WordRendering]]]:
        aligner = self._aligner(corpus) if self.read == "links" else None
        documents = link_documents(
            corpus, system, annotator=annotator, aligner=aligner, annotated=self.annotated, extra=self.extra
        )
        association = count_associations(segment for one in documents for segment in one.segments)
        for number, linked in enumerate(documents):
            for chain in linked.chains:
                if aligner is not None:
                    yield number, linked, chain, chain_renderings(chain, linked.segments, association)
                else:
                    yield number, linked, chain, _annotated_renderings(linked, chain, corpus.target_language)

    def _annotator(self, corpus: Corpus) -> Annotator | Unmeasured:
        why = _undefined_reason(corpus, self.annotated)
        if why:
            return Unmeasured(why)
        from eval.metrics.annotator import annotator_or_unmeasured

        return annotator_or_unmeasured(corpus.source_language, self.annotator)

    def _aligner(self, corpus: Corpus) -> WordAligner:
        if self.aligner is not None:
            return self.aligner
        from eval.linguistics.word_alignment import CachedAligner, EflomalAligner

        return CachedAligner(
            EflomalAligner(language_code(corpus.source_language), language_code(corpus.target_language))
        )

    def _signature(self, corpus: Corpus, annotator: Annotator) -> str:
        aligner = self._aligner(corpus).name if self.read == "links" else "none"
        settings = {
            "chains": "all" if self.annotated is None else "annotated",
            "renderings": RENDERING_RECIPE if self.read == "links" else self.read,
            "aligner": aligner,
            "learnt": "outputs+references" + (f"+{alignment_digest('', self.extra, ())[:8]}" if self.extra else ""),
            "stems": stemmer_name(corpus.target_language),
            "annotator": annotator.name,
        }
        return metric_signature(self.name, **settings)


def _worst_first(listed: Iterable[Inconsistency]) -> list[Inconsistency]:
    return sorted((one for one in listed if one.different), key=lambda one: (-one.different, one.document, one.word))


def _undefined_reason(corpus: Corpus, annotated: Mapping[str, AnnotatedChains] | None) -> str:
    """Why the metric is undefined for the corpus; "" if it is defined."""
    language = language_code(corpus.source_language)
    if not all(one.sources or not any(one.outputs.values()) for one in corpus.documents):
        return "LTCR needs the source, and there is none"
    if language not in LANGUAGES:
        known = " and ".join(map(language_name, LANGUAGES))
        source = "an unknown language" if language == "und" else language_name(language)
        return f"the tags of content words are defined for {known}, and the source is in {source}"
    if annotated is not None and not any(one.id in annotated for one in corpus.documents):
        return "none of these documents has annotated chains"
    return ""


def _annotated_renderings(linked: LinkedDocument, chain: LexicalChain, language: str) -> list[WordRendering]:
    stems = tuple(token.lemma for token in tokenize_words([chain.translation], language)[0])
    found = [find_stems(linked.segments[segment].target, stems) for segment, _ in chain.places]
    return [WordRendering(places, stems) if places else WordRendering() for places in found]


def _has_annotated_rendering(linked: LinkedDocument, chain: LexicalChain, language: str) -> list[bool]:
    """Whether each occurrence has the annotated rendering in its sentence."""
    if not chain.translation:
        return [False] * len(chain.places)
    return [bool(one.stems) for one in _annotated_renderings(linked, chain, language)]


def _pairs(chain: LexicalChain, found: list[WordRendering], given: list[bool]) -> FloatArray:
    row = np.zeros(_COLUMNS)
    for one, other, distance in chain.pairs():
        column = chain.category * len(CHAIN_DISTANCES) + distance
        same = found[one].equals(found[other])
        row[column] += same
        row[_KINDS + column] += 1
        row[-1] += not same and given[one] and given[other]
    return row


def _share(columns: range) -> Fold:
    return share_fold(columns, [_KINDS + column for column in columns], scale=100)


def _parts(*, with_error: bool) -> dict[str, Fold]:
    distances = len(CHAIN_DISTANCES)
    parts = {
        name: _share(range(kind * distances, (kind + 1) * distances)) for kind, name in enumerate(CHAIN_CATEGORIES)
    }
    parts |= {
        f"distance {name}": _share(range(distance, _KINDS, distances)) for distance, name in enumerate(CHAIN_DISTANCES)
    }
    if with_error:
        parts["aligner's error"] = lambda sums: 100 * ratio(sums[..., -1], sums[..., _KINDS:-1].sum(axis=-1))
    return parts
