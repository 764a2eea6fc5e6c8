"""Glossary terms of the source whose wording the draft does not use."""

from __future__ import annotations

from ape.guards.messages import quote, reject, warn
from ape.guards.text_features import lowercase_words, text_features
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.phonetics import phonetic_similarity

# A term may be inflected: Anna, Annas, Annával.
_INFLECTED = 0.88


def glossary(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject a draft that lost a glossary wording the MT had; warn if it merely lacks one.

    A draft that lacks the wording may still be right, for example with a pronoun in place of a name.
    """
    findings = []
    for term, wording in segment.glossary:
        if not (term and wording and term in segment.source) or _contains(draft.text, wording):
            continue
        message = f"The glossary translates {quote(term)} as {quote(wording)}, which the draft does not use."
        findings.append((reject if _contains(segment.mt, wording) else warn)("glossary", message))
    return findings


def _contains(text: str, wording: str) -> bool:
    """Whether the text contains the wording, in any case and with any endings."""
    if wording.lower() in text.lower():
        return True
    keys = text_features(text).phonetic_keys.values()
    return bool(keys) and all(phonetic_similarity(word, keys) >= _INFLECTED for word in lowercase_words(wording))
