"""The form of a name in the source, by the lines in which its reference has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import regex

from eval.metrics.dip.annotated_sides import AnnotatedSides
from eval.metrics.dip.consistency import ConsistencyChain

_RUN = regex.compile(r"\p{Han}+")
_WORD = regex.compile(r"\p{L}{3,}")
_LENGTHS = range(2, 6)
# A name of the source is mostly, not always, a name in a translation: the rest are pronouns.
_LEAST_DICE = 0.5


class SourceNames:
    """Finds the source forms of the names of one document's reference."""

    def __init__(self, side: AnnotatedSides) -> None:
        self._side = side
        self._forms = [set(_substrings(source)) for source in side.sources]
        self._lines = Counter(form for forms in self._forms for form in forms)

    def is_in(self, chain: ConsistencyChain, segment: int) -> bool:
        """Whether the source of a segment has the name; true where the source is unknown."""
        if not self._lines:
            return True
        return any(form in self._forms[segment] for form in self.forms_of(chain))

    def forms_of(self, chain: ConsistencyChain) -> list[str]:
        """The strings of the source that stand best for the name, all equally good ones; none if none is good."""
        having = [
            forms
            for forms, reference in zip(self._forms, self._side.references, strict=True)
            if reference is not None and any(map(chain.has, reference.tokens))
        ]
        together = Counter(form for forms in having for form in forms)
        likeness = {form: 2 * both / (len(having) + self._lines[form]) for form, both in together.items()}
        best = max(likeness.values(), default=0.0)
        return [form for form, value in likeness.items() if value == best] if best >= _LEAST_DICE else []


def _substrings(source: str) -> Iterator[str]:
    """Every run of two to five Chinese characters; every word of other scripts."""
    for run in _RUN.findall(source):
        for length in _LENGTHS:
            yield from (run[start : start + length] for start in range(len(run) - length + 1))
    yield from (word.lower() for word in _WORD.findall(_RUN.sub(" ", source)))
