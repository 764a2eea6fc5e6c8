"""LTCR: of all pairs of occurrences of a repeated source word, how many are translated alike (Lyu et al. 2021).

LTCR = Σ_w Σ_{i<j} [t_i = t_j] / Σ_w k(k-1)/2, in percent. The translations come from word alignment and are equal if
all their stems in lower case are: "Qiao" is not "Qiao Lian". An occurrence with no translation is the same as no other.
A row is a document. Beside the score stand those by part of speech and by distance in sentences, and, where people said
how a word is translated, the aligner's error: the share of pairs that are counted as different though that translation
is in both sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ape.errors import InputError
from ape.languages import code_of, name_of
from eval.annotate.protocol import Annotator
from eval.corpus import Corpus
from eval.ltcr.chains import CATEGORIES, DISTANCES, LANGUAGES, Annotated, Chain
from eval.ltcr.inconsistent import Inconsistency, shown
from eval.ltcr.reading import Linked, read_linked
from eval.ltcr.renderings import RECIPE, Rendering, associate, holds, renderings
from eval.ltcr.words import words_of
from eval.metric import Counted, Fold, Mark, Numbers, Unmeasured, ratio, signed
from eval.word_alignment.aligner import Bitext, WordAligner
from eval.word_alignment.cache import digest
from eval.word_alignment.stems import stemmer_of

# Columns: agreeing pairs of each category and distance, all pairs of each, and pairs that the aligner missed.
_KINDS = len(CATEGORIES) * len(DISTANCES)
_COLUMNS = 2 * _KINDS + 1


@dataclass(frozen=True, slots=True)
class Ltcr:
    """L-All; with annotated documents L-Anno, which counts only the chains that people drew.

    `read` is where the renderings are read from: "links" of the word aligner, or, to check it, "annotation": an
    occurrence is translated as people said, or not at all.
    """

    annotated: Mapping[str, Annotated] | None = None
    aligner: WordAligner | None = None
    annotator: Annotator | None = None
    extra: Bitext = ()
    read: Literal["links", "annotation"] = "links"
    higher_is_better: bool = True

    @property
    def name(self) -> str:
        """Which chains are counted."""
        return "ltcr" if self.annotated is None else "ltcr-anno"

    def count(self, corpus: Corpus, system: str) -> Counted | Unmeasured:
        """Pairs by category and distance, document by document."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return annotator
        rows = np.zeros((len(corpus.documents), _COLUMNS))
        for number, linked, chain, found in self._rendered(corpus, system, annotator):
            rows[number] += _pairs(chain, found, _given(linked, chain, corpus.target_language))
        return Counted(
            rows,
            np.arange(len(corpus.documents)),
            _share(range(_KINDS)),
            self._signature(corpus, annotator),
            unit="document",
            parts=_parts(with_error=self.annotated is not None and self.read == "links"),
        )

    def inconsistencies(self, corpus: Corpus, system: str) -> list[Inconsistency]:
        """The words that are translated in several ways, with every rendering in its sentence, the worst first."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            raise InputError(f"Inconsistent words can't be listed: {annotator.why}.")
        listed = [
            shown(linked, chain, found)
            for _, linked, chain, found in self._rendered(corpus, system, annotator)
        ]
        return sorted(
            (one for one in listed if one.different), key=lambda one: (-one.different, one.document, one.word)
        )

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """Each rendering that is not the word's commonest one, and the source word of it."""
        if isinstance(self._annotator(corpus), Unmeasured):
            return
        for one in self.inconsistencies(corpus, system):
            yield from one.marks()

    def _rendered(
        self, corpus: Corpus, system: str, annotator: Annotator
    ) -> Iterator[tuple[int, Linked, Chain, list[Rendering]]]:
        aligner = self._aligner(corpus) if self.read == "links" else None
        documents = read_linked(
            corpus, system, annotator=annotator, aligner=aligner, annotated=self.annotated, extra=self.extra
        )
        association = associate(segment for one in documents for segment in one.segments)
        for number, linked in enumerate(documents):
            for chain in linked.chains:
                if aligner is not None:
                    yield number, linked, chain, renderings(chain, linked.segments, association)
                else:
                    yield number, linked, chain, _as_annotated(linked, chain, corpus.target_language)

    def _annotator(self, corpus: Corpus) -> Annotator | Unmeasured:
        why = _why_not(corpus, self.annotated)
        if why:
            return Unmeasured(why)
        from eval.annotate import fitting

        return fitting(corpus.source_language, self.annotator)

    def _aligner(self, corpus: Corpus) -> WordAligner:
        if self.aligner is not None:
            return self.aligner
        from eval.word_alignment import Cached, Eflomal

        return Cached(Eflomal(code_of(corpus.source_language), code_of(corpus.target_language)))

    def _signature(self, corpus: Corpus, annotator: Annotator) -> str:
        aligner = self._aligner(corpus).name if self.read == "links" else "none"
        told = {
            "chains": "all" if self.annotated is None else "annotated",
            "renderings": RECIPE if self.read == "links" else self.read,
            "aligner": aligner,
            "learnt": "outputs+references" + (f"+{digest('', self.extra, ())[:8]}" if self.extra else ""),
            "stems": stemmer_of(corpus.target_language),
            "annotator": annotator.name,
        }
        return signed(self.name, **told)


def _why_not(corpus: Corpus, annotated: Mapping[str, Annotated] | None) -> str:
    """Why there is no number for such a corpus; empty if there is one."""
    language = code_of(corpus.source_language)
    if not all(one.sources or not any(one.outputs.values()) for one in corpus.documents):
        return "LTCR is about words that the source repeats, and there is no source"
    if language not in LANGUAGES:
        known = " and ".join(map(name_of, LANGUAGES))
        told = "a language that nobody named" if language == "und" else name_of(language)
        return f"the tags of content words are known for {known}, and the source is in {told}"
    if annotated is not None and not any(one.id in annotated for one in corpus.documents):
        return "none of these documents has annotated chains"
    return ""


def _as_annotated(linked: Linked, chain: Chain, language: str) -> list[Rendering]:
    stems = tuple(token.lemma for token in words_of([chain.translation], language)[0])
    found = [holds(linked.segments[segment].target, stems) for segment, _ in chain.places]
    return [Rendering(places, stems) if places else Rendering() for places in found]


def _given(linked: Linked, chain: Chain, language: str) -> list[bool]:
    """Of each occurrence, whether the rendering that people gave is in its sentence."""
    if not chain.translation:
        return [False] * len(chain.places)
    return [bool(one.stems) for one in _as_annotated(linked, chain, language)]


def _pairs(chain: Chain, found: list[Rendering], given: list[bool]) -> Numbers:
    row = np.zeros(_COLUMNS)
    for one, other, distance in chain.pairs():
        column = chain.category * len(DISTANCES) + distance
        same = found[one].same(found[other])
        row[column] += same
        row[_KINDS + column] += 1
        row[-1] += not same and given[one] and given[other]
    return row


def _share(columns: range) -> Fold:
    agreeing, pairs = list(columns), [_KINDS + column for column in columns]
    return lambda sums: 100 * ratio(sums[..., agreeing].sum(axis=-1), sums[..., pairs].sum(axis=-1))


def _parts(*, with_error: bool) -> dict[str, Fold]:
    apart = len(DISTANCES)
    parts = {name: _share(range(kind * apart, (kind + 1) * apart)) for kind, name in enumerate(CATEGORIES)}
    parts |= {f"distance {name}": _share(range(far, _KINDS, apart)) for far, name in enumerate(DISTANCES)}
    if with_error:
        parts["aligner's error"] = lambda sums: 100 * ratio(sums[..., -1], sums[..., _KINDS:-1].sum(axis=-1))
    return parts
