"""Confirmed names of the book that the draft loses or words wrongly."""

from __future__ import annotations

from ape.guards.messages import quote, reject
from ape.passage.result import Finding
from ape.passage.segment import CastMember, Draft, Segment
from ape.text.terms import has_wording


def cast(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject a draft that uses a wrong wording of a confirmed name, or lost the right one that the MT had.

    A wrong wording that the MT has as well is no fault of the draft: the names of the book could not repair it.
    """
    findings = []
    for member in segment.cast:
        if not (member.confirmed and member.in_passage):
            continue
        right = (member.wording, *member.other_wordings)
        if wrong := _new_wrong_wording(member, segment, draft):
            message = f"The draft calls {quote(member.source)} {quote(wrong)} instead of {quote(member.wording)}."
            findings.append(reject("cast", message))
        elif _has_any(segment.mt, right, segment) and not _has_any(draft.text, right, segment):
            message = f"The draft lost {quote(member.wording)}, the confirmed wording of {quote(member.source)}."
            findings.append(reject("cast", message))
    return findings


def _new_wrong_wording(member: CastMember, segment: Segment, draft: Draft) -> str:
    return next(
        (
            wording
            for wording in member.wrong_wordings
            if _has_any(draft.text, (wording,), segment) and not _has_any(segment.mt, (wording,), segment)
        ),
        "",
    )


def _has_any(text: str, wordings: tuple[str, ...], segment: Segment) -> bool:
    return any(has_wording(text, wording, language=segment.target_language) for wording in wordings)
