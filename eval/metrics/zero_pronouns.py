"""Recovery of dropped pronouns: the share of those marked as left out in a Chinese source that an output has.

In each segment and for each person, the output's pronouns beyond those that the source has in the text count as
recovered, up to the number of marks. English may drop a pronoun too ("before leaving"), so with references the target
is at most the number that a reference has. Persons are compared, cases are not, as the case follows the wording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import regex

from eval.corpus.corpus import Corpus, Document
from eval.corpus.pronoun_marks import CHINESE_PRONOUNS, overt_pronouns, parse_dropped_pronouns
from eval.metrics.metric import Mark, metric_signature
from eval.statistics.counts import MetricCounts, Unmeasured, share_fold

PRONOUN_FORMS: Mapping[str, frozenset[str]] = {
    "he": frozenset("he him his himself".split()),
    "she": frozenset("she her hers herself".split()),
    "it": frozenset("it its itself".split()),
    "they": frozenset("they them their theirs themselves themself".split()),
    "I": frozenset("i me my mine myself".split()),
    "we": frozenset("we us our ours ourselves".split()),
    "you": frozenset("you your yours yourself yourselves".split()),
    "this": frozenset("this that these those it".split()),
}
_WORD = regex.compile(r"\p{Latin}+")


@dataclass(frozen=True, slots=True)
class ZeroPronouns:
    """The share of dropped pronouns that an English output has, with one part for each person."""

    name: str = "zero-pronouns"
    higher_is_better: bool = True
    reads_pronoun_marks: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """For each segment and person, the recovered and the recoverable pronouns."""
        if why := _undefined(corpus):
            return Unmeasured(why)
        rows, documents = [], []
        for number, document, segment in corpus.segments():
            if document.sources:
                recovered, target = _recovery(document, segment, system)
                rows.append([side[person] for person in PRONOUN_FORMS for side in (recovered, target)])
                documents.append(number)
        against = "reference" if any(document.references for document in corpus.documents) else "marks"
        columns = range(2 * len(PRONOUN_FORMS))
        return MetricCounts(
            np.asarray(rows, dtype=float),
            np.asarray(documents, dtype=np.intp),
            share_fold(columns[::2], columns[1::2]),
            metric_signature(self.name, case="no", against=against),
            parts={person: share_fold([2 * index], [2 * index + 1]) for index, person in enumerate(PRONOUN_FORMS)},
        )

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """The marks in the source whose person has too few pronouns in the output."""
        for document in corpus.documents:
            for segment, source in enumerate(document.sources):
                recovered, target = _recovery(document, segment, system)
                for dropped in parse_dropped_pronouns(source):
                    if recovered[dropped.person] < target[dropped.person]:
                        span = dropped.start, dropped.end
                        yield Mark(document.id, segment, "source", *span, "lost", dropped.pronoun)


def _undefined(corpus: Corpus) -> str:
    if corpus.target_language != "en":
        return f"it is defined for English and not for {corpus.target_language}"
    sources = (source for document in corpus.documents for source in document.sources)
    if not any(map(parse_dropped_pronouns, sources)):
        return "no dropped pronoun is marked in the source, as <他>_S"
    return ""


def _recovery(document: Document, segment: int, system: str) -> tuple[Counter[str], Counter[str]]:
    """Recovered and recoverable pronouns by person."""
    source = document.sources[segment]
    dropped = Counter(pronoun.person for pronoun in parse_dropped_pronouns(source))
    overt = Counter(CHINESE_PRONOUNS[pronoun] for pronoun in overt_pronouns(source))
    target, references = dropped, document.references_of(segment)
    if references:
        target = Counter()
        for reference in references:
            target |= _extra_pronouns(reference, overt) & dropped
    return _extra_pronouns(document.outputs[system][segment], overt) & target, target


def _extra_pronouns(text: str, overt: Counter[str]) -> Counter[str]:
    """By person, the pronouns of an English text beyond those in the source text."""
    # In a mixed-case text, US is a country.
    words = [word.lower() for word in _WORD.findall(text) if word != "US" or text.isupper()]
    return Counter({person: sum(word in forms for word in words) for person, forms in PRONOUN_FORMS.items()}) - overt
