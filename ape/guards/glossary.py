"""Glossary terms of the source whose wording the draft does not use."""

from __future__ import annotations

from ape.guards.messages import quote, reject, warn
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.terms import find_terms, has_wording


def glossary(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject a draft that lost a glossary wording the MT had; warn if it merely lacks one.

    A draft that lacks the wording may still be right, for example with a pronoun in place of a name.
    """
    findings = []
    language = segment.target_language
    there = find_terms(segment.source, [term for term, _ in segment.glossary])
    for term, wording in segment.glossary:
        if not wording or term not in there or has_wording(draft.text, wording, language=language):
            continue
        message = f"The glossary translates {quote(term)} as {quote(wording)}, which the draft does not use."
        lost = has_wording(segment.mt, wording, language=language)
        findings.append((reject if lost else warn)("glossary", message))
    return findings
