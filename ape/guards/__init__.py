"""Guards: small pure functions that look at a draft and say what is wrong with it.

`GUARDS` names them all; `check` runs them. Each takes the passage and the draft and returns its findings: `reject`
where the draft must not be used, `warn` where the evidence is weak. Their numbers are in `ape.guards.thresholds`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from ape.guards.addition import addition
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
        "addition": addition,
        "paragraphs": paragraphs,
        "placeholders": placeholders,
        "numbers": numbers,
        "names": names,
        "pronouns": pronouns,
        "glossary": glossary,
        "quotes": quotes,
        "edit_rate": edit_rate,
    }
)
# What `check` runs on a draft that has words, all of them readable: the first two guards have then spoken. One looks at
# the marks of inline mark-up; to the others they are neither words nor numbers, and are not there.
_OTHERS = tuple(guard for guard in GUARDS.values() if guard not in (empty, garbled))


def check_draft(segment: Segment, draft: Draft) -> tuple[Finding, ...]:
    """All findings against a draft, in the order of `GUARDS`.

    A draft that is the MT is never at fault: whatever is odd in it was there before, and keeping the MT is what a
    refusal leads to anyway. A draft without words, or with characters that are none, is judged by that alone.
    """
    if draft.text.strip() == segment.mt.strip():
        return ()
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
