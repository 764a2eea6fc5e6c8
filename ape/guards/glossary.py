"""Glossary terms not used where the source has them."""

from __future__ import annotations

from ape.guards.reading import read, words_of
from ape.guards.spelling import likeness
from ape.guards.wording import quoted, reject, warn
from ape.segment import Draft, Segment
from ape.verdict import Finding

# A term may be inflected: Anna, Annas, Annával.
_INFLECTED = 0.88


def glossary(segment: Segment, draft: Draft) -> list[Finding]:
    """A term of the glossary whose source stands in the passage and whose wording does not stand in the draft.

    It is a fault if the MT had the wording and the draft lost it. Else the draft only failed to mend it, or rightly
    says "she": a warning.
    """
    findings = []
    for term, wording in segment.glossary:
        if not (term and wording and term in segment.source) or _has(draft.text, wording):
            continue
        message = f"The glossary asks for {quoted(wording)} for {quoted(term)}; the draft does not use it."
        findings.append((reject if _has(segment.mt, wording) else warn)("glossary", message))
    return findings


def _has(text: str, wording: str) -> bool:
    """Whether the wording stands in the text, whatever its case and endings."""
    if wording.lower() in text.lower():
        return True
    sounds = read(text).sounds.values()
    return bool(sounds) and all(likeness(word, sounds) >= _INFLECTED for word in words_of(wording))
