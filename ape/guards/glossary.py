"""Glossary terms not used where the source has them."""

from __future__ import annotations

from ape.guards.messages import quote, reject, warn
from ape.guards.text_features import lowercase_words, text_features
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.phonetics import phonetic_similarity

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
        message = f"The glossary asks for {quote(wording)} for {quote(term)}; the draft does not use it."
        findings.append((reject if _has(segment.mt, wording) else warn)("glossary", message))
    return findings


def _has(text: str, wording: str) -> bool:
    """Whether the wording stands in the text, whatever its case and endings."""
    if wording.lower() in text.lower():
        return True
    sounds = text_features(text).phonetic_keys.values()
    return bool(sounds) and all(
        phonetic_similarity(word, sounds) >= _INFLECTED for word in lowercase_words(wording)
    )
