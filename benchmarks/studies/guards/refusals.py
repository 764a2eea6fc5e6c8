"""Human texts that the guards refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ape.guards import check_draft
from ape.passage.result import Finding, Severity
from ape.passage.segment import Draft, Segment
from benchmarks.studies.guards.passages import HumanPostEdit

# The limit on rewriting finds no fault of wording, so it is counted separately.
EDIT_RATE_GUARD = "edit_rate"


@dataclass(frozen=True, slots=True)
class GuardRefusal:
    """A row refused, and the findings that refuse it."""

    row: HumanPostEdit
    findings: tuple[Finding, ...]


def find_refusals(rows: Iterable[HumanPostEdit], *, mt: bool = False) -> list[GuardRefusal]:
    """Rows whose post-edit (or MT, with `mt`) is refused as a draft."""
    found = []
    for row in rows:
        against = find_rejections(row.segment, row.segment.mt if mt else row.post_edit)
        if against:
            found.append(GuardRefusal(row, against))
    return found


def find_rejections(segment: Segment, text: str) -> tuple[Finding, ...]:
    """The findings that refuse a text as a draft."""
    return tuple(finding for finding in check_draft(segment, Draft(text)) if finding.severity is Severity.REJECT)


def count_by_guard(found: Iterable[GuardRefusal]) -> Counter[str]:
    """How many rows each guard refuses; a row may be refused by several."""
    return Counter(guard for refusal in found for guard in {finding.guard for finding in refusal.findings})


def refused_by_other_guards(found: Iterable[GuardRefusal]) -> list[GuardRefusal]:
    """Rows refused for more than too much rewriting."""
    return [refusal for refusal in found if {finding.guard for finding in refusal.findings} - {EDIT_RATE_GUARD}]
