"""A fixture that runs one guard on one draft."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ape.guards import GUARDS
from ape.passage.result import Severity
from ape.passage.segment import Context, Draft, Segment

SeverityOf = Callable[..., str]


@pytest.fixture
def severity_of() -> SeverityOf:
    """Run one guard on a draft and return the highest severity of its findings, "reject", "warn" or ""."""

    def severity_of_draft(
        guard: str,
        mt: str,
        draft: str,
        source: str = "",
        languages: str = "fr-en",
        *,
        finish_reason: str = "stop",
        context: tuple[str, ...] = (),
        glossary: tuple[tuple[str, str], ...] = (),
        instructions: str = "",
    ) -> str:
        source_language, target_language = languages.split("-")
        before = tuple(Context("", target) for target in context)
        segment = Segment(source, mt, source_language, target_language, before, glossary, instructions)
        findings = GUARDS[guard](segment, Draft(draft, finish_reason))
        assert all(finding.guard == guard and finding.message.endswith((".", "”")) for finding in findings)
        found = {finding.severity for finding in findings}
        return next((str(severity) for severity in (Severity.REJECT, Severity.WARN) if severity in found), "")

    return severity_of_draft
