"""What the guards refuse of what humans made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ape.guards import check
from ape.segment import Draft, Segment
from ape.verdict import Finding, Severity
from eval.guards.rows import Row

# A new translation is no fault of wording: it is counted apart.
CAP = "edit_rate"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row refused, and the findings that refuse it."""

    row: Row
    findings: tuple[Finding, ...]


def refusals(rows: Iterable[Row], *, mt: bool = False) -> list[Refusal]:
    """The rows whose post-edit, or with `mt` whose MT, is refused as a draft."""
    found = []
    for row in rows:
        against = rejections(row.segment, row.segment.mt if mt else row.post_edit)
        if against:
            found.append(Refusal(row, against))
    return found


def rejections(segment: Segment, text: str) -> tuple[Finding, ...]:
    """The findings that refuse a text as a draft."""
    return tuple(finding for finding in check(segment, Draft(text)) if finding.severity is Severity.REJECT)


def by_guard(found: Iterable[Refusal]) -> Counter[str]:
    """How many rows each guard refuses; a row may be refused by several."""
    return Counter(guard for refusal in found for guard in {finding.guard for finding in refusal.findings})


def faulty(found: Iterable[Refusal]) -> list[Refusal]:
    """Those refused for more than being a new translation."""
    return [refusal for refusal in found if {finding.guard for finding in refusal.findings} - {CAP}]
