"""Guards: pure functions that compare a draft with its passage and return findings.

`GUARDS` lists them and `check_draft` runs them. A finding rejects the draft, or warns if the evidence is weak. Their
thresholds are in `ape.guards.thresholds`. To add a guard, write its module, register it here and add its test file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from ape.guards.addition import addition
from ape.guards.cast import cast
from ape.guards.edit_rate import edit_rate
from ape.guards.empty import empty
from ape.guards.garbled import garbled
from ape.guards.glossary import glossary
from ape.guards.language import language
from ape.guards.length import length
from ape.guards.loop import loop
from ape.guards.markup import markup
from ape.guards.names import names
from ape.guards.numbers import numbers
from ape.guards.obedience import obedience
from ape.guards.omission import omission
from ape.guards.paragraphs import paragraphs
from ape.guards.placeholders import placeholders
from ape.guards.preamble import preamble
from ape.guards.pronouns import pronouns
from ape.guards.quotes import quotes
from ape.guards.sentences_dropped import sentences_dropped
from ape.guards.source_left_in import source_left_in
from ape.guards.speech_tags import speech_tags
from ape.guards.truncated import truncated
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.inline_marks import strip_marks

__all__ = ["GUARDS", "Guard", "check_draft"]

Guard = Callable[[Segment, Draft], list[Finding]]

GUARDS: Mapping[str, Guard] = MappingProxyType(
    {
        "empty": empty,
        "garbled": garbled,
        "truncated": truncated,
        "length": length,
        "language": language,
        "source_left_in": source_left_in,
        "preamble": preamble,
        "markup": markup,
        "obedience": obedience,
        "loop": loop,
        "sentences_dropped": sentences_dropped,
        "omission": omission,
        "speech_tags": speech_tags,
        "addition": addition,
        "paragraphs": paragraphs,
        "placeholders": placeholders,
        "numbers": numbers,
        "names": names,
        "pronouns": pronouns,
        "glossary": glossary,
        "cast": cast,
        "quotes": quotes,
        "edit_rate": edit_rate,
    }
)
# The guards that run if the draft is neither empty nor garbled. Only `placeholders` sees the marks of inline mark-up.
_OTHERS = tuple(guard for guard in GUARDS.values() if guard not in (empty, garbled))


def check_draft(segment: Segment, draft: Draft) -> tuple[Finding, ...]:
    """All findings against a draft, in the order of `GUARDS`.

    A draft that equals the MT can't be rejected, since that would also keep the MT; it is checked against the glossary
    alone. An empty or garbled draft is checked by that guard alone.
    """
    if draft.text.strip() == segment.mt.strip():
        return tuple(glossary(segment, draft)) if segment.glossary else ()
    plain_segment, plain_draft = segment, draft
    if any("⟦" in text for text in (segment.source, segment.mt, draft.text)):
        plain_segment = replace(segment, source=strip_marks(segment.source), mt=strip_marks(segment.mt))
        plain_draft = replace(draft, text=strip_marks(draft.text))
    if findings := empty(plain_segment, plain_draft) or garbled(plain_segment, plain_draft):
        return tuple(findings)
    return tuple(
        finding
        for guard in _OTHERS
        for finding in (guard(segment, draft) if guard is placeholders else guard(plain_segment, plain_draft))
    )
